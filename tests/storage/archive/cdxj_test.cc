#include "storage/archive/cdxj.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "storage/archive/cdxj_sorter.h"
#include "tests/storage/archive/archive_testing.h"

namespace gannet::storage {
namespace {

TEST(CdxjKeyTest, HasTheFormThatOtherToolsUse) {
  const std::pair<const char*, const char*> cases[] = {
      {"http://example.com", "com,example)/"},
      {"http://www.Example.com/Path?Q=1", "com,example)/path?q=1"},
      {"https://www2.example.com:443/a/", "com,example)/a"},
      {"http://example.com:8080/", "com,example:8080)/"},
      {"https://example.com:80/", "com,example:80)/"},
      {"http://user:pass@example.com/x#frag", "com,example)/x"},
      {"http://archive.org/goo/?a=2&b&a=1", "org,archive)/goo?a=1&a=2&b"},
      {"http://example.com/?", "com,example)/"},
      {"http://127.0.0.1:8000/x", "127.0.0.1:8000)/x"},
      {"http://[::1]/x", "[::1])/x"},
      {"http://[::1]:99/x", "[::1]:99)/x"},
      {"http://example.com./x", "com,example)/x"},
      {"http://www./x", "www)/x"},
      {"http://wwwexample.com/", "com,wwwexample)/"},
      {"http:///x", ")/x"},
      {"dns:example.com", "dns:example.com"},
      {"http://a.b/x y\n", "b,a)/x%20y%0a"},
  };
  for (const auto& [url, key] : cases) EXPECT_EQ(CdxjKey(url), key) << url;
}

TEST(CdxjTest, LineHasTheKnownKeysInOrder) {
  auto line = CdxjFront(
      RecordType::kResponse, "http://example.com/\"q\\", "2026-01-31T23:59:59Z",
      "sha1:ABC",
      "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=x\r\n\r\n");
  ASSERT_TRUE(line.has_value());
  FinishCdxjLine(*line, 12, 34, "f.warc.gz");
  EXPECT_EQ(
      *line,
      R"(com,example)/%22q\ 20260131235959 {"url": )"
      R"("http://example.com/%22q\\", "mime": "text/html", "status": "200", )"
      R"("digest": "sha1:ABC", "length": "12", "offset": "34", )"
      R"("filename": "f.warc.gz"})");
}

TEST(CdxjTest, HostileContentTypeCannotBreakTheLine) {
  auto line = CdxjFront(RecordType::kResponse, "http://a.b/", "", "",
                        "HTTP/1.1 200 OK\r\nContent-Type: a\"b\x01\r\n\r\n");
  ASSERT_TRUE(line.has_value());
  EXPECT_NE(line->find("\"mime\": \"unk\""), std::string::npos) << *line;
}

TEST(CdxjTest, RevisitsAreMarkedAndRequestsAreNotIndexed) {
  auto line = CdxjFront(RecordType::kRevisit, "http://a.b/", "2026", "", "");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->find("b,a)/ 20260101000000 {"), 0u) << *line;
  EXPECT_NE(line->find("\"mime\": \"warc/revisit\", \"status\": \"-\""),
            std::string::npos)
      << *line;
  EXPECT_FALSE(CdxjFront(RecordType::kRequest, "http://a.b/", "", "", ""));
  EXPECT_FALSE(CdxjFront(RecordType::kMetadata, "http://a.b/", "", "", ""));
}

TEST(CdxjSorterTest, ManySmallRunsGiveWhatOneSortGives) {
  TestFolder folder;
  std::mt19937 random(7);
  for (const size_t memory : {size_t{300}, size_t{5000}, size_t{1} << 20}) {
    std::vector<std::string> lines;
    const auto path = folder.path() / "x.cdxj";
    CdxjSorter sorter(path, memory);
    for (int i = 0; i < 1000; ++i) {
      std::string line(random() % 40, '\0');
      // Bytes beyond ASCII too: they sort as unsigned, as LC_ALL=C does.
      for (char& c : line) c = static_cast<char>(random() % 245 + 11);
      lines.push_back(line);
      ASSERT_TRUE(sorter.Add(line).ok());
    }
    ASSERT_TRUE(sorter.Write().ok());
    std::sort(lines.begin(), lines.end());
    std::string expected;
    for (const auto& line : lines) expected += line + "\n";
    EXPECT_EQ(BytesOf(path), expected) << memory;
  }
  EXPECT_TRUE(folder.Names(".tmp").empty());
}

TEST(WarcDateTest, BecomesFourteenDigits) {
  EXPECT_EQ(WarcDate(TestTime()), "2026-01-31T23:59:59Z");
  EXPECT_EQ(Timestamp14("2026-01-31T23:59:59Z"), "20260131235959");
  EXPECT_EQ(Timestamp14("2026-01-31T23:59:59.123456Z"), "20260131235959");
  EXPECT_EQ(Timestamp14("2026-01"), "20260101000000");
  EXPECT_EQ(Timestamp14("yesterday"), "00000000000000");
}

}  // namespace
}  // namespace gannet::storage
