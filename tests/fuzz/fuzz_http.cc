// Any bytes as an HTTP answer: what a round derives from it stays within
// bounds. The first byte chooses failure and settings; the rest is the whole
// message, head and body.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "jobs/fetch/outcome.h"
#include "jobs/fetch/robots.h"
#include "jobs/fetch/robots_answer.h"
#include "jobs/parse/page_parser.h"
#include "storage/archive/http_message.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"

namespace {

using namespace gannet;

constexpr size_t kMaxDecoded = 64 << 10;
constexpr size_t kMaxLinks = 50;

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

struct Parsing {
  storage::Canonicaliser canonicaliser;
  std::unique_ptr<storage::UrlFilter> filter =
      storage::UrlFilter::Create({}, canonicaliser).value();
  storage::Url url = storage::Url::Parse("http://a.example/dir/page").value();
  jobs::PageParser parser{Settings(), &canonicaliser, filter.get()};

  static jobs::ParseSettings Settings() {
    jobs::ParseSettings settings;
    settings.max_links = kMaxLinks;
    settings.max_decoded_bytes = kMaxDecoded;
    settings.follow_img = settings.follow_link = settings.follow_srcset = true;
    settings.agent = "gannet";
    return settings;
  }
};

void CheckOutcome(const jobs::Response& response, bool was_conditional) {
  const jobs::Outcome outcome =
      jobs::OutcomeOf(response, was_conditional, absl::UnixEpoch());
  Require(outcome.reason.size() <= 300, "a reason is short");
  for (const char c : outcome.reason) {
    Require(static_cast<unsigned char>(c) >= 0x20, "a reason is one line");
  }
  Require((outcome.state == proto::MOVED) == !outcome.location.empty(),
          "a page moved somewhere");
  Require(outcome.state != proto::FETCHED || outcome.reason.empty() ||
              outcome.unchanged,
          "what is fetched needs no reason");
  Require(!outcome.unchanged || was_conditional, "unchanged since when?");
  Require(outcome.state == proto::FETCHED || outcome.state == proto::MOVED ||
              !outcome.reason.empty(),
          "a failure has a reason");
  if (outcome.retry_after.has_value()) {
    Require(*outcome.retry_after >= absl::ZeroDuration(), "no rest backwards");
  }
}

void CheckRobots(const jobs::Response& response) {
  for (const int redirects : {0, 5}) {
    const jobs::RobotsAnswer answer = jobs::ReadRobotsAnswer(
        response, "http://a.example/robots.txt", redirects);
    Require(redirects < 5 || answer.next_url.empty(), "five redirects end it");
    Require(answer.text.size() <= jobs::RobotsRules::kMaxBytes,
            "rules are bounded");
  }
}

void CheckPage(const jobs::Response& response) {
  static Parsing parsing;
  const storage::HttpHead head = storage::SplitHttpResponse(response.head);
  Require(head.body_offset <= response.head.size(), "the head is inside");
  const jobs::ParsedPage& page =
      parsing.parser.Parse(parsing.url, head.fields, response.body);
  Require(page.outlinks.size() <= kMaxLinks, "links are bounded");
  Require(page.outlinks.size() == page.outlink_urls.size(), "a key each");
  Require(page.title.size() <= jobs::FactsCollector::kMaxTitleBytes,
          "a title is bounded");
  Require(page.kind == jobs::ParsedPage::Kind::kHtml || page.outlinks.empty(),
          "only HTML has links");
  std::set<std::string_view> distinct;
  for (size_t i = 0; i < page.outlinks.size(); ++i) {
    const std::string& link = page.outlink_urls[i];
    Require(distinct.insert(link).second, "links are distinct");
    Require(link != parsing.url.href(), "a page does not link to itself");
    const auto parsed = storage::Url::Parse(link);
    Require(parsed.ok() && parsed->href() == link, "a link is canonical");
    Require(storage::PageKeyOf(*parsed) == page.outlinks[i], "its key is its");
    Require(parsing.filter->Judge(*parsed) == storage::UrlVerdict::kAllowed,
            "the filters let it pass");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view message(reinterpret_cast<const char*>(data) + 1,
                                 size - 1);
  jobs::Response response;
  const size_t head = storage::SplitHttpResponse(message).body_offset;
  response.head = message.substr(0, head);
  response.body = message.substr(head);
  response.status = storage::SplitHttpResponse(response.head).status;
  const bool was_conditional = (data[0] & 1) != 0;
  CheckOutcome(response, was_conditional);
  CheckRobots(response);
  CheckPage(response);
  response.failure =
      static_cast<jobs::Failure>(1 + data[0] % (jobs::kFailureCount - 1));
  response.detail = response.body;
  CheckOutcome(response, was_conditional);
  return 0;
}
