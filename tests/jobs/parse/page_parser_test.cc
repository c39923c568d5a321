#include "jobs/parse/page_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <memory>
#include <string>

#include "storage/archive/http_message.h"

namespace gannet::jobs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = ParsedPage::Kind;
using Reader = ParsedPage::Reader;

constexpr std::string_view kHtml = "Content-Type: text/html\r\n";

class PageParserTest : public ::testing::Test {
 protected:
  PageParserTest() {
    settings_.agent = "gannet";
    filter_ = storage::UrlFilter::Create(rules_).value();
  }

  const ParsedPage& Parse(std::string_view body,
                          std::string_view fields = kHtml) {
    parser_ =
        std::make_unique<PageParser>(settings_, &canonicaliser_, filter_.get());
    return parser_->Parse(url_, fields, body);
  }

  storage::UrlFilterRules rules_;
  ParseSettings settings_;
  storage::Canonicaliser canonicaliser_;
  std::unique_ptr<storage::UrlFilter> filter_;
  storage::Url url_ = storage::Url::Parse("http://a.example/x/page").value();
  std::unique_ptr<PageParser> parser_;
};

TEST_F(PageParserTest, OutlinksAreDistinctCanonicalAndNeverThePageItself) {
  const ParsedPage& page = Parse(
      "<a href=1><a href='./1#top'><a href=#here><a href=''><a href=page>"
      "<a href='HTTP://B.example:80/%7eu?utm_source=x'><area href=/2>");
  EXPECT_EQ(page.kind, Kind::kHtml);
  EXPECT_EQ(page.reader, Reader::kScanner);
  EXPECT_THAT(page.outlink_urls,
              ElementsAre("http://a.example/x/1", "http://b.example/~u",
                          "http://a.example/2"));
  ASSERT_EQ(page.outlinks.size(), 3u);
  EXPECT_EQ(
      page.outlinks[1],
      storage::PageKeyOf(storage::Url::Parse("http://b.example/~u").value()));
  EXPECT_EQ(page.counts.found, 7u);
  EXPECT_EQ(page.counts.same_page, 3u);
  EXPECT_EQ(page.counts.repeated, 1u);
}

TEST_F(PageParserTest, OnlyKindsThatWereAskedForAreFollowed) {
  constexpr std::string_view kPage =
      "<a href=1><area href=2><iframe src=3></iframe><img src=4 srcset=5>"
      "<link rel=stylesheet href=6><link rel=canonical href=7>"
      "<link rel=preconnect href=//cdn.example>";
  EXPECT_EQ(Parse(kPage).outlinks.size(), 3u);
  EXPECT_EQ(parser_->Parse(url_, kHtml, kPage).counts.not_asked, 5u);
  settings_.follow_link = settings_.follow_img = settings_.follow_srcset = true;
  settings_.follow_a = settings_.follow_area = settings_.follow_iframe = false;
  EXPECT_THAT(Parse(kPage).outlink_urls,
              ElementsAre("http://a.example/x/4", "http://a.example/x/5",
                          "http://a.example/x/6"));
  EXPECT_THAT(Parse("<frameset><frame src=f></frameset>").outlink_urls,
              ElementsAre("http://a.example/x/f"));
  EXPECT_EQ(parser_->Parse(url_, kHtml, "<svg><a href=1>").reader,
            Reader::kGumbo);
  settings_.follow_frame = false;
  EXPECT_THAT(Parse("<frameset><frame src=f></frameset>").outlink_urls,
              IsEmpty());
}

TEST_F(PageParserTest, BaseIsResolvedAgainstThePageAndMovesItsLinks) {
  const ParsedPage& page =
      Parse("<base href='../y/z'><a href=1><a href=#f><a href='?q'>");
  EXPECT_THAT(page.outlink_urls,
              ElementsAre("http://a.example/y/1", "http://a.example/y/z",
                          "http://a.example/y/z?q"));
  EXPECT_THAT(Parse("<base href='data:,x'><a href=1>").outlink_urls,
              ElementsAre("http://a.example/x/1"));
}

TEST_F(PageParserTest, CanonicalIsRecordedAndNotFollowed) {
  settings_.follow_link = true;
  const ParsedPage& page =
      Parse("<base href=/b/><link rel=canonical href='c#x?y'>");
  EXPECT_EQ(page.canonical, "http://a.example/b/c");
  EXPECT_THAT(page.outlink_urls, IsEmpty());
  EXPECT_EQ(Parse("<link rel=canonical href=mailto:x>").canonical, "");
}

TEST_F(PageParserTest, NofollowIsHonouredWhereverItIsSaid) {
  EXPECT_THAT(Parse("<a rel=nofollow href=1><a href=2>").outlink_urls,
              ElementsAre("http://a.example/x/2"));
  for (const char* meta : {"robots", "GANNET"}) {
    const ParsedPage& page = Parse(std::string("<meta name=") + meta +
                                   " content=nofollow><a href=1>");
    EXPECT_TRUE(page.nofollow);
    EXPECT_THAT(page.outlink_urls, IsEmpty());
    EXPECT_EQ(page.counts.nofollow, 1u);
  }
  EXPECT_FALSE(Parse("<meta name=otherbot content=nofollow>").nofollow);
}

TEST_F(PageParserTest, XRobotsTagIsReadWithItsAgents) {
  const std::tuple<const char*, bool, bool> cases[] = {
      {"X-Robots-Tag: noindex, nofollow\r\n", true, true},
      {"x-robots-tag: NONE\n", true, true},
      {"X-Robots-Tag: otherbot: noindex, nofollow\r\n", false, false},
      {"X-Robots-Tag: Gannet: nofollow\r\n", false, true},
      {"X-Robots-Tag: otherbot: noindex\r\nX-Robots-Tag: nofollow\r\n", false,
       true},
      {"X-Robots-Tag: otherbot: noindex, gannet: nofollow\r\n", false, true},
      {"X-Robots-Tag: unavailable_after: 1 Jan 2030 10:00:00 GMT, noindex\r\n",
       true, false},
      {"X-Robots-Tag: otherbot: max-snippet: 5, noindex\r\n", false, false},
      {"X-Robots: noindex\r\n", false, false},
  };
  for (const auto& [fields, noindex, nofollow] : cases) {
    const ParsedPage& page = Parse("", fields);
    EXPECT_EQ(page.noindex, noindex) << fields;
    EXPECT_EQ(page.nofollow, nofollow) << fields;
  }
}

TEST_F(PageParserTest, NofollowCanBeIgnoredAndIsStillRecorded) {
  settings_.honour_nofollow = false;
  const ParsedPage& page =
      Parse("<meta name=robots content=none><a rel=nofollow href=1><a href=2>");
  EXPECT_TRUE(page.nofollow);
  EXPECT_TRUE(page.noindex);
  EXPECT_EQ(page.outlinks.size(), 2u);
}

TEST_F(PageParserTest, OnlyHtmlHasLinks) {
  constexpr std::string_view kBody = "<!doctype html><a href=1>";
  const std::pair<const char*, Kind> cases[] = {
      {"Content-Type: TEXT/HTML;charset=utf-8\r\n", Kind::kHtml},
      {"Content-Type: application/xhtml+xml\r\n", Kind::kHtml},
      {"Content-Type: text/plain\r\n", Kind::kOther},
      {"Content-Type: application/xml\r\n", Kind::kOther},
      {"Content-Type:\r\n", Kind::kHtml},  // Empty: the content decides.
      {"", Kind::kHtml}};
  for (const auto& [fields, kind] : cases) {
    EXPECT_EQ(Parse(kBody, fields).kind, kind) << fields;
    EXPECT_EQ(Parse(kBody, fields).outlinks.size(), kind == Kind::kHtml);
  }
  EXPECT_EQ(Parse("%PDF <a href=1>", "").kind, Kind::kOther);
  EXPECT_EQ(Parse("<!doctype htmlx><a href=1>", "").kind, Kind::kOther);
  EXPECT_EQ(Parse("x", "Content-Type: Image/PNG; q=1").media_type, "image/png");
}

std::string Gzip(const std::string& text) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

TEST_F(PageParserTest, CodedBodiesAreDecodedAndBadOnesAreKindsOfPage) {
  const std::string fields = std::string(kHtml) + "content-encoding: gzip\r\n";
  EXPECT_EQ(Parse(Gzip("<a href=1>"), fields).outlinks.size(), 1u);
  EXPECT_EQ(Parse(Gzip("<a href=1>").substr(0, 15), fields).kind,
            Kind::kBadEncoding);
  EXPECT_EQ(
      Parse("<a href=1>", std::string(kHtml) + "Content-Encoding: x\r\n").kind,
      Kind::kBadEncoding);
  settings_.max_decoded_bytes = 100'000;
  EXPECT_EQ(Parse(Gzip("<a href=1>" + std::string(200'000, ' ')), fields).kind,
            Kind::kTooLarge);
  EXPECT_THAT(parser_->Parse(url_, fields, "").outlinks, IsEmpty());
}

TEST_F(PageParserTest, CharsetOfTheHeaderDecides) {
  const ParsedPage& page =
      Parse("<title>\x83\x65</title><a href='\x83\x65'>",
            "Content-Type: text/html; x=\"a;b\"; Charset=\"Shift_JIS\"\r\n");
  EXPECT_EQ(page.charset, "shift_jis");
  EXPECT_EQ(page.title, "テ");
  EXPECT_THAT(page.outlink_urls, ElementsAre("http://a.example/x/%E3%83%86"));
}

TEST_F(PageParserTest, LinksThatAreNotTakenAreCountedByReason) {
  rules_.deny.hosts = {"b.example"};
  filter_ = storage::UrlFilter::Create(rules_).value();
  settings_.max_links = 2;
  const ParsedPage& page = Parse(
      "<a href=mailto:x><a href='http://[bad'><a href=//b.example/>"
      "<a href=1><a href=2><a href=3><a href=4><a href=1>");
  EXPECT_EQ(page.outlinks.size(), 2u);
  EXPECT_EQ(page.counts.over_max_links, 2u);
  EXPECT_EQ(page.counts.repeated, 1u);
  using storage::UrlOutcome;
  using storage::UrlVerdict;
  const auto& outcomes = page.counts.by_outcome;
  EXPECT_EQ(outcomes[static_cast<int>(UrlOutcome::kOtherScheme)], 1u);
  EXPECT_EQ(outcomes[static_cast<int>(UrlOutcome::kBadHost)], 1u);
  EXPECT_EQ(page.counts.by_verdict[static_cast<int>(UrlVerdict::kDeniedHost)],
            1u);
}

TEST_F(PageParserTest, APageDoesNotAffectTheNext) {
  Parse(
      "<title>t</title><base href=/b/><link rel=canonical href=c>"
      "<meta name=robots content=noindex><a href=1><a href=2><a href=3>");
  const ParsedPage& page = parser_->Parse(url_, kHtml, "<a href=2>");
  EXPECT_THAT(page.outlink_urls, ElementsAre("http://a.example/x/2"));
  EXPECT_EQ(page.outlinks.size(), 1u);
  EXPECT_EQ(page.title + page.canonical, "");
  EXPECT_FALSE(page.noindex);
  EXPECT_EQ(parser_->Parse(url_, "Content-Type: text/plain\r\n", "x").charset,
            "");
}

TEST_F(PageParserTest, APageThatGumboCannotReadIsReadByItsTags) {
  std::string html = "<template></template>";
  for (int i = 0; i < 100'000; ++i) {
    html += "<p><b id=" + std::to_string(i) + "></p>";
  }
  const ParsedPage& page = Parse(html + "<a href=1>");
  EXPECT_EQ(page.reader, Reader::kScannerAnyway);
  EXPECT_THAT(page.outlink_urls, ElementsAre("http://a.example/x/1"));
  EXPECT_THAT(Parse("<table><svg><select><title>t<select><td></title><a "
                    "href=1>")
                  .outlink_urls,
              ElementsAre("http://a.example/x/1"));
}

}  // namespace
}  // namespace gannet::jobs
