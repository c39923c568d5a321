// Our reader on files that other programs wrote (shared data, not in the
// project). The expected numbers were counted with Python's gzip module.
#include <gtest/gtest.h>

#include <map>

#include "storage/archive/digest.h"
#include "storage/archive/http_message.h"
#include "storage/archive/warc_reader.h"
#include "tests/storage/archive/archive_testing.h"
#include "tests/test_data.h"

namespace gannet::storage {
namespace {

std::filesystem::path StrangersFolder() { return TestDataPath("warc"); }

struct Expected {
  const char* name;
  const char* version;
  std::map<std::string, int> types;
  const char* first_uri;
  const char* last_uri;
  int block_digests;
  int payload_digests;
};

const Expected kExpected[] = {
    {"20130729-heritrix-original.warc.gz",
     "1.0",
     {{"response", 1}},
     "http://www.bl.uk/",
     "http://www.bl.uk/",
     0,
     1},
    {"20130729-heritrix-revisit-with-http-headers.warc.gz",
     "1.0",
     {{"revisit", 1}},
     "http://www.bl.uk/",
     "http://www.bl.uk/",
     0,
     0},
    // Its last empty line is missing.
    {"20141124-heritrix-server-not-modified.warc.gz",
     "1.0",
     {{"revisit", 1}},
     "http://www.bl.uk/",
     "http://www.bl.uk/",
     0,
     0},
    {"20141129-heritrix-original.warc.gz",
     "1.0",
     {{"response", 1}},
     "http://bl.uk/subjects/news-media/",
     "http://bl.uk/subjects/news-media/",
     0,
     1},
    {"20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz",
     "1.0",
     {{"revisit", 1}},
     "http://bl.uk/subjects/news-media/",
     "http://bl.uk/subjects/news-media/",
     0,
     0},
    {"hello-world.warc.gz",
     "1.0",
     {{"warcinfo", 1},
      {"request", 1},
      {"response", 1},
      {"metadata", 1},
      {"resource", 2}},
     "http://iipc.github.io/warc-specifications/primers/web-archive-formats/"
     "hello-world.txt",
     "metadata://gnu.org/software/wget/warc/wget.log",
     6,
     1},
    {"stormcrawler-sample.warc.gz",
     "1.1",
     {{"warcinfo", 2}, {"response", 18}, {"request", 20}, {"revisit", 2}},
     "https://api.github.com/repos/DigitalPebble/storm-crawler?callback="
     "callback",
     "https://www.googletagmanager.com/gtag/js?id=G-45FJ9EDKZS&cx=c&_slc=1",
     0,
     0},
};

class StrangersTest : public testing::TestWithParam<Expected> {};

TEST_P(StrangersTest, EachFileIsReadToItsEnd) {
  if (!std::filesystem::exists(StrangersFolder())) {
    GTEST_SKIP() << "no files of other programs in " << StrangersFolder()
                 << "; GANNET_TEST_DATA names the folder that has warc/";
  }
  const Expected& expected = GetParam();
  auto reader = WarcReader::Open(StrangersFolder() / expected.name);
  ASSERT_TRUE(reader.ok()) << reader.status();
  std::map<std::string, int> types;
  std::vector<std::string> uris;
  int block_digests = 0, payload_digests = 0;
  uint64_t end = 0;
  for (;;) {
    auto more = (*reader)->Next();
    ASSERT_TRUE(more.ok()) << more.status();
    if (!*more) break;
    const WarcHeader& header = (*reader)->header();
    EXPECT_EQ(header.version, expected.version);
    EXPECT_EQ((*reader)->offset(), end);
    ++types[std::string(header.Get("WARC-Type"))];
    if (!header.TargetUri().empty()) uris.emplace_back(header.TargetUri());
    const std::string block = (*reader)->ReadWholeBlock().value();
    EXPECT_EQ(block.size(), header.content_length);
    block_digests += header.Get("WARC-Block-Digest") == Sha1Digest(block);
    if (header.type == RecordType::kResponse) {
      const HttpHead head = SplitHttpResponse(block);
      EXPECT_GE(head.status, 200);
      payload_digests += header.Get("WARC-Payload-Digest") ==
                         Sha1Digest(block.substr(head.body_offset));
    }
    end = (*reader)->Finish().value();
  }
  EXPECT_EQ(end, std::filesystem::file_size(StrangersFolder() / expected.name));
  EXPECT_EQ(types, expected.types);
  ASSERT_FALSE(uris.empty());
  EXPECT_EQ(uris.front(), expected.first_uri);
  EXPECT_EQ(uris.back(), expected.last_uri);
  EXPECT_EQ(block_digests, expected.block_digests);
  EXPECT_EQ(payload_digests, expected.payload_digests);
}

INSTANTIATE_TEST_SUITE_P(All, StrangersTest, testing::ValuesIn(kExpected),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) {
                               c = '_';
                             }
                           }
                           return name;
                         });

}  // namespace
}  // namespace gannet::storage
