// Every page of a fake web that has all kinds of nasty pages: the parser must
// find exactly the links that the web's own truth names.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "jobs/parse/page_parser.h"
#include "storage/archive/http_message.h"
#include "tests/fake_web/responder.h"
#include "tests/fake_web/truth.h"
#include "tests/jobs/parse/reader_comparison.h"
#include "tests/test_run.h"

namespace gannet::jobs {
namespace {

using fake_web::Nasty;
using fake_web::Outcome;
using fake_web::Ref;

class FakeWebParseTest : public ::testing::Test {
 protected:
  FakeWebParseTest() {
    fake_web::WebOptions options;
    options.hosts = 60;
    options.pages = IsLongRun() ? 20'000 : 1'500;
    options.nasty = fake_web::ParseNasty("all").value();
    options.gzip = true;
    web_ = fake_web::Web::Create(options).value();
  }

  // The final answer, after those that refuse at first.
  const fake_web::Reply& Fetch(const Ref& ref) {
    std::string target;
    web_->AppendTarget(ref, &target);
    fake_web::Request request;
    request.method = "GET";
    request.target = target;
    request.host = web_->hosts().Name(ref.host);
    request.accepts_gzip = true;
    for (int i = 0; i < 4; ++i) {
      responder_->Respond(request, 0x7f000001, &reply_);
      if (reply_.status == 200) break;
    }
    return reply_;
  }

  std::unique_ptr<fake_web::Web> web_;
  fake_web::WebClock clock_;
  fake_web::Reply reply_;
  std::unique_ptr<fake_web::Responder> responder_;
};

TEST_F(FakeWebParseTest, EveryPageHasExactlyTheLinksThatTheTruthSays) {
  responder_ = std::make_unique<fake_web::Responder>(web_.get(), &clock_);
  fake_web::CrawlRules rules;
  fake_web::Truth truth(web_.get(), rules);
  const storage::Canonicaliser canonicaliser;
  const auto filter =
      storage::UrlFilter::Create(storage::UrlFilterRules()).value();
  ParseSettings settings;
  settings.agent = rules.agent;
  PageParser parser(settings, &canonicaliser, filter.get());

  std::map<Nasty, int> kinds;
  std::map<ParsedPage::Reader, int> readers;
  for (const fake_web::TruePage& page : truth.AllUrls()) {
    if (page.outcome != Outcome::kFetched) continue;
    const std::string text = web_->Url(page.ref);
    storage::Url url;
    ASSERT_EQ(canonicaliser.Canonicalise(text, nullptr, url),
              storage::UrlOutcome::kOk);
    const fake_web::Reply& reply = Fetch(page.ref);
    ASSERT_EQ(reply.status, 200) << text;
    const std::string_view bytes = reply.bytes;
    const storage::HttpHead head = storage::SplitHttpResponse(bytes);
    const ParsedPage& parsed =
        parser.Parse(url, head.fields, bytes.substr(head.body_offset));

    std::vector<Ref> found;
    truth.AppendFound(page.ref, page.outcome, &found);
    std::set<std::string> expected;
    for (const Ref& ref : found) {
      const std::string link = web_->Url(ref);
      if (truth.Accepts(link) && link != text) expected.insert(link);
    }
    const std::set<std::string> actual(parsed.outlink_urls.begin(),
                                       parsed.outlink_urls.end());
    ASSERT_EQ(actual, expected)
        << text << " " << fake_web::Info(page.ref.kind).name;
    ++kinds[page.ref.kind];
    ++readers[parsed.reader];
  }
  // All kinds of page whose links are hard to read occurred.
  for (const Nasty kind :
       {Nasty::kCharset, Nasty::kBrokenHtml, Nasty::kOddLinks, Nasty::kBase,
        Nasty::kNonHtml, Nasty::kMetaNofollow, Nasty::kHeaderNofollow,
        Nasty::kNofollowLink, Nasty::kNoindex, Nasty::kCanonical,
        Nasty::kScriptTitle, Nasty::kMirror, Nasty::kLongLength}) {
    EXPECT_GT(kinds[kind], 0) << fake_web::Info(kind).name;
  }
  EXPECT_EQ(readers[ParsedPage::Reader::kGumbo], 0);
}

TEST_F(FakeWebParseTest, TheGzipBombIsTooLarge) {
  responder_ = std::make_unique<fake_web::Responder>(web_.get(), &clock_);
  const storage::Canonicaliser canonicaliser;
  const auto filter =
      storage::UrlFilter::Create(storage::UrlFilterRules()).value();
  PageParser parser(ParseSettings(), &canonicaliser, filter.get());
  fake_web::Truth truth(web_.get(), {});
  int bombs = 0;
  for (const fake_web::TruePage& page : truth.AllUrls()) {
    if (page.ref.kind != Nasty::kGzipBomb || bombs > 0) continue;
    ++bombs;
    const std::string_view bytes = Fetch(page.ref).bytes;
    const storage::HttpHead head = storage::SplitHttpResponse(bytes);
    const ParsedPage& parsed =
        parser.Parse(storage::Url::Parse(web_->Url(page.ref)).value(),
                     head.fields, bytes.substr(head.body_offset));
    EXPECT_EQ(parsed.kind, ParsedPage::Kind::kTooLarge);
  }
  EXPECT_GT(bombs, 0);
}

TEST_F(FakeWebParseTest, ScannerReadsEveryKindOfPageAsGumboDoes) {
  const fake_web::HtmlPages pages(web_.get());
  ReaderComparison comparison;
  fake_web::Truth truth(web_.get(), {});
  size_t ordinary = 0;
  for (const fake_web::TruePage& page : truth.AllUrls()) {
    if (page.ref.kind == Nasty::kNone && ++ordinary > 300) continue;
    std::string html;
    pages.Append(page.ref, 0, fake_web::HrefStyle::kAsServed, &html);
    ASSERT_EQ(comparison.Compare(html), ReaderComparison::Answer::kSame)
        << web_->Url(page.ref) << "\nscanner:\n"
        << comparison.by_scanner() << "\ngumbo:\n"
        << comparison.by_gumbo();
  }
}

}  // namespace
}  // namespace gannet::jobs
