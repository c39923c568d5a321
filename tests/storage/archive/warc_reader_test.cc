#include "storage/archive/warc_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>

#include "storage/archive/outlinks.h"
#include "tests/storage/archive/archive_testing.h"

namespace gannet::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Gzip(std::string_view bytes) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(compressor, bytes.size()), 0);
  out.resize(libdeflate_gzip_compress(compressor, bytes.data(), bytes.size(),
                                      out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

std::string Record(std::string_view block, std::string_view more = "") {
  return "WARC/1.1\r\nWARC-Type: response\r\n" + std::string(more) +
         "Content-Length: " + std::to_string(block.size()) + "\r\n\r\n" +
         std::string(block) + "\r\n\r\n";
}

// The blocks of all records, and at the end "error: ..." if there was one.
std::vector<std::string> Blocks(std::string_view bytes, bool resync = false,
                                ReaderLimits limits = {}) {
  WarcReader reader(MemorySource(bytes), limits);
  std::vector<std::string> blocks;
  for (;;) {
    auto more = reader.Next();
    absl::Status failed = more.status();
    if (more.ok() && !*more) return blocks;
    if (more.ok()) {
      auto block = reader.ReadWholeBlock();
      failed = block.status();
      if (block.ok()) blocks.push_back(*block);
    }
    if (failed.ok()) continue;
    if (!resync) {
      EXPECT_NE(failed.code(), absl::StatusCode::kInternal);
      blocks.push_back("error: " + failed.ToString());
      return blocks;
    }
    if (!reader.Resync().value()) return blocks;
  }
}

TEST(WarcReaderTest, ReadsGzipAndPlainAlike) {
  const std::string a = Record("first"), b = Record(""), c = Record("third");
  EXPECT_THAT(Blocks(a + b + c), ElementsAre("first", "", "third"));
  EXPECT_THAT(Blocks(Gzip(a) + Gzip(b) + Gzip(c)),
              ElementsAre("first", "", "third"));
  // The whole file as one gzip member, as gzip(1) makes it.
  EXPECT_THAT(Blocks(Gzip(a + b + c)), ElementsAre("first", "", "third"));
  EXPECT_THAT(Blocks(""), ElementsAre());
}

TEST(WarcReaderTest, OffsetsAreThoseOfTheMembers) {
  const std::string a = Gzip(Record("first")), b = Gzip(Record("second"));
  const std::string both = a + b;
  WarcReader reader(MemorySource(both));
  ASSERT_TRUE(reader.Next().value());
  EXPECT_EQ(reader.offset(), 0u);
  EXPECT_EQ(reader.Finish().value(), a.size());
  ASSERT_TRUE(reader.Next().value());
  EXPECT_EQ(reader.offset(), a.size());
  EXPECT_EQ(reader.Finish().value(), both.size());
  EXPECT_FALSE(reader.Next().value());
}

// WARC 1.1, 4: names are case-insensitive, values may be folded.
TEST(WarcReaderTest, TakesOddHeaders) {
  const std::string odd =
      "warc/1.0\nwarc-TYPE:   Response  \nWARC-Target-URI: <http://a.b/>\n"
      "X-Folded: one\n  two\n\tthree\nno colon here\ncontent-length:3\n\nabc\n";
  WarcReader reader(MemorySource(odd));
  ASSERT_TRUE(reader.Next().value());
  EXPECT_EQ(reader.header().version, "1.0");
  EXPECT_EQ(reader.header().type, RecordType::kResponse);
  EXPECT_EQ(reader.header().TargetUri(), "http://a.b/");
  EXPECT_EQ(reader.header().Get("x-folded"), "one two three");
  EXPECT_EQ(reader.ReadWholeBlock().value(), "abc");
  EXPECT_FALSE(reader.Next().value());
}

TEST(WarcReaderTest, MissingEmptyLinesBetweenRecordsAreForgiven) {
  std::string a = Record("first");
  a.resize(a.size() - 4);
  EXPECT_THAT(Blocks(a + Record("second")), ElementsAre("first", "second"));
  EXPECT_THAT(Blocks("\r\n\r\n" + a), ElementsAre("first"));
}

TEST(WarcReaderTest, UnusableLengthIsDataLoss) {
  for (const char* length :
       {"", "-1", "x", "5x", "99999999999999999999999", "1 2", "0x5"}) {
    const std::string bytes =
        "WARC/1.1\r\nContent-Length: " + std::string(length) + "\r\n\r\nabc";
    EXPECT_THAT(Blocks(bytes), ElementsAre(HasSubstr("DATA_LOSS"))) << length;
  }
  EXPECT_THAT(Blocks("WARC/1.1\r\nWARC-Type: response\r\n\r\nabc"),
              ElementsAre(HasSubstr("no usable Content-Length")));
}

TEST(WarcReaderTest, WhatIsNoWarcIsDataLossWithTheOffset) {
  EXPECT_THAT(Blocks("hello\n"), ElementsAre(HasSubstr("offset 0")));
  const std::string a = Record("first");
  EXPECT_THAT(
      Blocks(a + "hello\n"),
      ElementsAre("first", HasSubstr("offset " + std::to_string(a.size()))));
  EXPECT_THAT(Blocks(Gzip(a) + "hello"),
              ElementsAre("first", HasSubstr("DATA_LOSS")));
}

TEST(WarcReaderTest, AFileThatIsCutAnywhereIsAnError) {
  const std::string a = Gzip(Record("first")), b = Gzip(Record("second"));
  for (size_t size = a.size() + 1; size < a.size() + b.size(); ++size) {
    const std::string cut = (a + b).substr(0, size);
    WarcReader reader(MemorySource(cut));
    ASSERT_TRUE(reader.Next().value());
    absl::Status status;
    auto more = reader.Next();
    status = more.status();
    if (status.ok()) status = reader.Finish().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << size;
  }
}

TEST(WarcReaderTest, EveryFlippedByteOfAMemberIsSeenOrHarmless) {
  const std::string a = Gzip(Record("first, with some more text in it"));
  int seen = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    std::string bad = a;
    bad[i] = static_cast<char>(bad[i] ^ 0x55);
    const std::vector<std::string> blocks = Blocks(bad);
    ASSERT_LE(blocks.size(), 2u);
    if (!blocks.empty() && blocks.back().rfind("error: ", 0) == 0) {
      ++seen;
    } else if (!blocks.empty()) {
      // Only time stamp, flags and system in gzip's own header are harmless.
      EXPECT_LT(i, 10u);
    }
  }
  EXPECT_GT(seen, static_cast<int>(a.size()) - 10);
}

TEST(WarcReaderTest, ResyncGoesOnAtTheNextMember) {
  const std::string a = Gzip(Record("first"));
  std::string b = Gzip(Record("second, which will be damaged"));
  const std::string c = Gzip(Record("third"));
  for (size_t i = 10; i < 14; ++i) b[i] = '\xff';
  EXPECT_THAT(Blocks(a + b + c, /*resync=*/true),
              ElementsAre("first", "third"));
  EXPECT_THAT(Blocks(a + "garbage" + c, /*resync=*/true),
              ElementsAre("first", "third"));
}

TEST(WarcReaderTest, LongHeaderIsRefusedBeforeItFillsTheMemory) {
  ReaderLimits limits;
  limits.header_bytes = 1000;
  const std::string more = "X: " + std::string(2000, 'x') + "\r\n";
  EXPECT_THAT(Blocks(Record("abc", more), false, limits),
              ElementsAre(HasSubstr("header of more than 1000 bytes")));
  EXPECT_THAT(Blocks(Gzip(Record("abc", more)), false, limits),
              ElementsAre(HasSubstr("header of more than 1000 bytes")));
}

TEST(WarcReaderTest, LongBlockIsLeftToTheStreamingCaller) {
  ReaderLimits limits;
  limits.block_bytes = 1000;
  const std::string block(100000, 'x');
  const std::string bytes = Gzip(Record(block)) + Gzip(Record("next"));
  WarcReader reader(MemorySource(bytes), limits);
  ASSERT_TRUE(reader.Next().value());
  EXPECT_EQ(reader.ReadWholeBlock().status().code(),
            absl::StatusCode::kOutOfRange);
  std::string streamed;
  char buffer[777];
  for (size_t n; (n = reader.ReadBlock(buffer, sizeof buffer).value()) > 0;) {
    streamed.append(buffer, n);
  }
  EXPECT_EQ(streamed, block);
  ASSERT_TRUE(reader.Next().value());
  EXPECT_EQ(reader.ReadWholeBlock().value(), "next");
}

TEST(WarcReaderTest, MissingFileIsNotFound) {
  EXPECT_EQ(WarcReader::Open("/nowhere/x.warc.gz").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(OutlinksTest, ReadBackAsWritten) {
  const std::vector<std::string> urls = {"http://a.b/", "https://c.d/?x=1&y:z"};
  EXPECT_EQ(ParseOutlinks(OutlinksBlock(urls)), urls);
  EXPECT_THAT(ParseOutlinks(""), ElementsAre());
}

TEST(OutlinksTest, HeritrixLinesGiveTheUrlAlone) {
  EXPECT_THAT(ParseOutlinks("via: http://x.y/\r\nfetchTimeMs: 5\r\n"
                            "outlink: http://a.b/ L a/@href\r\n"
                            "OUTLINK:http://c.d/\n"),
              ElementsAre("http://a.b/", "http://c.d/"));
}

TEST(OutlinksTest, HostileUrlStaysOneLine) {
  std::string block;
  AppendOutlink(block, "http://a.b/\r\noutlink: http://evil/");
  EXPECT_THAT(ParseOutlinks(block),
              ElementsAre("http://a.b/%0D%0Aoutlink:%20http://evil/"));
}

}  // namespace
}  // namespace gannet::storage
