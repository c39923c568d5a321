#include "storage/archive/record_packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/archive/digest.h"
#include "storage/archive/warc_reader.h"
#include "tests/storage/archive/archive_testing.h"

namespace gannet::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<ArchivedRecord> RoundTrip(absl::Span<const NewRecord> group) {
  RecordPacker packer({});
  const absl::Status packed = packer.Pack(group);
  EXPECT_TRUE(packed.ok()) << packed;
  std::vector<ArchivedRecord> records;
  WarcReader reader(MemorySource(packer.bytes()));
  while (reader.Next().value()) {
    records.push_back({reader.header(), reader.ReadWholeBlock().value()});
  }
  return records;
}

NewRecord Response(std::string_view url) {
  return {.type = RecordType::kResponse,
          .url = url,
          .date = TestTime(),
          .ip = "2001:db8::1",
          .head = "HTTP/1.1 200 OK\r\n\r\n",
          .payload = "abc"};
}

TEST(DigestTest, IsSha1InBase32) {
  // FIPS 180-2, A.1: "abc"; in base32 by RFC 4648.
  EXPECT_EQ(Sha1Digest("abc"), "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
  EXPECT_EQ(Sha1Digest(""), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
}

TEST(RecordPackerTest, ResponseHasTheHeadersThatTheStandardRequires) {
  const auto records = RoundTrip({Response("http://a.b/")});
  ASSERT_EQ(records.size(), 1u);
  const WarcHeader& header = records[0].header;
  EXPECT_EQ(header.version, "1.1");
  EXPECT_EQ(header.type, RecordType::kResponse);
  EXPECT_EQ(header.TargetUri(), "http://a.b/");
  EXPECT_EQ(header.Get("WARC-Date"), "2026-01-31T23:59:59Z");
  EXPECT_EQ(header.Get("WARC-IP-Address"), "2001:db8::1");
  EXPECT_EQ(header.Get("Content-Type"), "application/http;msgtype=response");
  EXPECT_EQ(header.Get("WARC-Payload-Digest"), Sha1Digest("abc"));
  EXPECT_EQ(header.Get("WARC-Block-Digest"), Sha1Digest(records[0].block));
  EXPECT_EQ(header.Get("WARC-Truncated"), "");
  EXPECT_EQ(records[0].block, "HTTP/1.1 200 OK\r\n\r\nabc");
  // A random UUID (RFC 4122, 4.4), in the brackets of WARC 1.1, 5.2.
  std::string shape(header.Get("WARC-Record-ID"));
  for (char& c : shape.erase(0, 10)) {
    if (std::string_view("0123456789abcdef").find(c) != std::string::npos) {
      c = 'x';
    }
  }
  EXPECT_EQ(shape, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx>");
  EXPECT_EQ(header.Get("WARC-Record-ID").substr(0, 10), "<urn:uuid:");
  EXPECT_EQ(header.Get("WARC-Record-ID")[10 + 14], '4');
  EXPECT_THAT(
      std::string("89ab"),
      HasSubstr(std::string(header.Get("WARC-Record-ID").substr(29, 1))));
}

TEST(RecordPackerTest, RequestAndMetadataPointToTheirResponse) {
  NewRecord request = Response("http://a.b/"), metadata = request;
  request.type = RecordType::kRequest;
  request.concurrent_to = 1;
  metadata.type = RecordType::kMetadata;
  metadata.concurrent_to = 1;
  const auto records = RoundTrip({request, Response("http://a.b/"), metadata});
  ASSERT_EQ(records.size(), 3u);
  const std::string_view id = records[1].header.Get("WARC-Record-ID");
  EXPECT_EQ(records[0].header.Get("WARC-Concurrent-To"), id);
  EXPECT_EQ(records[1].header.Get("WARC-Concurrent-To"), "");
  EXPECT_EQ(records[2].header.Get("WARC-Concurrent-To"), id);
  EXPECT_EQ(records[0].header.Get("Content-Type"),
            "application/http;msgtype=request");
  EXPECT_EQ(records[2].header.Get("Content-Type"), "application/warc-fields");
}

// WARC 1.1, 6.7.2 and 6.7.3.
TEST(RecordPackerTest, RevisitNamesItsProfileAndOriginal) {
  NewRecord revisit = Response("http://a.b/");
  revisit.type = RecordType::kRevisit;
  revisit.payload = {};
  revisit.payload_digest = "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5";
  revisit.revisit = {RevisitOf::Profile::kIdenticalPayloadDigest, "http://c.d/",
                     TestTime() - absl::Hours(24)};
  NewRecord not_modified = revisit;
  not_modified.payload_digest = {};
  not_modified.revisit->profile = RevisitOf::Profile::kServerNotModified;
  const auto records = RoundTrip({revisit, not_modified});
  ASSERT_EQ(records.size(), 2u);
  const WarcHeader& header = records[0].header;
  EXPECT_EQ(header.type, RecordType::kRevisit);
  EXPECT_EQ(header.Get("WARC-Profile"),
            "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest");
  EXPECT_EQ(header.Get("WARC-Refers-To-Target-URI"), "http://c.d/");
  EXPECT_EQ(header.Get("WARC-Refers-To-Date"), "2026-01-30T23:59:59Z");
  EXPECT_EQ(header.Get("WARC-Payload-Digest"), Sha1Digest("abc"));
  EXPECT_EQ(records[1].header.Get("WARC-Profile"),
            "http://netpreserve.org/warc/1.1/revisit/server-not-modified");
  EXPECT_EQ(records[1].header.Get("WARC-Payload-Digest"), "");
}

TEST(RecordPackerTest, TruncationGivesItsReason) {
  std::vector<NewRecord> group(3, Response("http://a.b/"));
  group[0].truncated = Truncated::kLength;
  group[1].truncated = Truncated::kTime;
  group[2].truncated = Truncated::kDisconnect;
  std::vector<std::string> reasons;
  for (const auto& record : RoundTrip(group)) {
    reasons.emplace_back(record.header.Get("WARC-Truncated"));
  }
  EXPECT_THAT(reasons, ElementsAre("length", "time", "disconnect"));
}

TEST(RecordPackerTest, NoValueFromTheWebCanWriteAHeader) {
  const std::string evil =
      "http://a.b/\r\nContent-Length: 0\r\n\r\nWARC/1.1\r\nX: \n\x7f \xff<>\"";
  NewRecord record = Response(evil);
  record.type = RecordType::kRevisit;
  record.ip = "1.2.3.4\r\nWARC-Type: warcinfo";
  record.payload_digest = "sha1:X\r\nEvil: 1";
  record.revisit = {RevisitOf::Profile::kServerNotModified, evil, TestTime()};
  const auto records = RoundTrip({record, Response("http://next/")});
  ASSERT_EQ(records.size(), 2u);
  const WarcHeader& header = records[0].header;
  const std::string safe =
      "http://a.b/%0D%0AContent-Length:%200%0D%0A%0D%0AWARC/1.1%0D%0AX:%20%0A"
      "%7F%20%FF%3C%3E%22";
  EXPECT_EQ(header.TargetUri(), safe);
  EXPECT_EQ(header.Get("WARC-Refers-To-Target-URI"), safe);
  EXPECT_EQ(header.Get("WARC-IP-Address"), "");
  EXPECT_EQ(header.Get("Evil"), "");
  EXPECT_EQ(records[0].block, "HTTP/1.1 200 OK\r\n\r\nabc");
  int lengths = 0;
  for (const auto& [name, value] : header.fields) {
    lengths += name == "Content-Length";
  }
  EXPECT_EQ(lengths, 1);
  EXPECT_EQ(records[1].header.TargetUri(), "http://next/");
  EXPECT_EQ(SafeUri(safe), safe);  // A second time changes nothing.
}

TEST(RecordPackerTest, ControlsInPlainFieldsBecomeSpaces) {
  std::string header;
  AppendField(header, "operator", "a\r\nb: c\td");
  EXPECT_EQ(header, "operator: a  b: c d\r\n");
}

TEST(RecordPackerTest, HugeRecordAndEmptyOneSurvive) {
  std::string body(40 << 20, '\0');
  uint32_t x = 1;
  for (char& c : body)
    c = static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  NewRecord huge = Response("http://a.b/"), empty = Response("http://a.b/");
  huge.payload = body;
  empty.head = empty.payload = {};
  const auto records = RoundTrip({huge, empty});
  ASSERT_EQ(records.size(), 2u);
  EXPECT_TRUE(records[0].block == std::string(huge.head) + body);
  EXPECT_EQ(records[1].block, "");
}

TEST(RecordPackerTest, RecordsThatMakeNoSenseAreRefused) {
  RecordPacker packer({});
  NewRecord no_url = Response("");
  NewRecord not_a_revisit = Response("http://a.b/");
  not_a_revisit.revisit = RevisitOf{};
  NewRecord revisit_of_nothing = Response("http://a.b/");
  revisit_of_nothing.type = RecordType::kRevisit;
  NewRecord outside = Response("http://a.b/");
  outside.concurrent_to = 1;
  NewRecord warcinfo = Response("http://a.b/");
  warcinfo.type = RecordType::kWarcinfo;
  for (const NewRecord& bad :
       {no_url, not_a_revisit, revisit_of_nothing, outside, warcinfo}) {
    EXPECT_EQ(packer.Pack({bad}).code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace gannet::storage
