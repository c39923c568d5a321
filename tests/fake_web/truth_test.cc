// The ground truth against a crawler that really asks the server.
#include "tests/fake_web/truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fake_web/certificate_maker.h"
#include "tests/fake_web/judge.h"
#include "tests/fake_web/naive_crawler.h"
#include "tests/fake_web/server.h"

namespace gannet::fake_web {
namespace {

// Names the differences instead of printing two maps of thousands of URLs.
void ExpectSame(const std::map<std::string, std::string>& truth,
                const std::map<std::string, std::string>& crawled) {
  int shown = 0;
  for (const auto& [url, outcome] : truth) {
    const auto found = crawled.find(url);
    if (found != crawled.end() && found->second == outcome) continue;
    if (++shown > 20) break;
    ADD_FAILURE() << "truth: " << outcome << ", crawler: "
                  << (found == crawled.end() ? "not found" : found->second)
                  << ": " << url;
  }
  for (const auto& [url, outcome] : crawled) {
    if (truth.count(url) > 0) continue;
    if (++shown > 20) break;
    ADD_FAILURE() << "only the crawler has: " << outcome << ": " << url;
  }
  EXPECT_EQ(truth.size(), crawled.size());
}

std::map<std::string, std::string> TrueOutcomes(const Web& web,
                                                const CrawlRules& rules) {
  std::map<std::string, std::string> outcomes;
  Truth truth(&web, rules);
  for (const TruePage& page : truth.Reachable()) {
    outcomes[web.Url(page.ref)] = std::string(Name(page.outcome));
  }
  return outcomes;
}

class TruthTest : public testing::Test {
 protected:
  void Start(std::string_view nasty, uint32_t hosts, uint64_t pages,
             uint64_t seed, double https_share = 0) {
    WebOptions options;
    options.seed = seed;
    options.hosts = hosts;
    options.pages = pages;
    options.nasty = ParseNasty(nasty).value();
    options.retry_after_seconds = 0;
    options.slow = absl::Milliseconds(100);
    options.https_share = https_share;
    web_ = Web::Create(options).value();
    server_ =
        Server::Start(web_.get(), &clock_, {.tls_port = 0, .keep_log = true})
            .value();
  }
  std::vector<std::string> Seeds() const {
    std::vector<std::string> seeds;
    for (const Ref& seed : web_->Seeds()) seeds.push_back(web_->Url(seed));
    return seeds;
  }

  WebClock clock_;
  std::unique_ptr<Web> web_;
  std::unique_ptr<Server> server_;
};

TEST_F(TruthTest, NaiveCrawlerFindsExactlyTheReachableUrlsOfANastyWeb) {
  Start("all", 40, 2000, 1);
  const CrawlRules rules;
  NaiveCrawler crawler(server_->port(), rules);
  const auto crawled = crawler.Crawl(Seeds());
  ExpectSame(TrueOutcomes(*web_, rules), crawled);
  EXPECT_GT(crawled.size(), 2500u);

  // It does not wait between requests, but it obeyed robots.txt and asked only
  // for links that exist.
  ASSERT_TRUE(server_->Stop().ok());
  const Verdict verdict =
      Judge(*web_, server_->Log(), {.delay = absl::ZeroDuration()});
  EXPECT_EQ(verdict.forbidden, 0u)
      << testing::PrintToString(verdict.forbidden_urls);
  EXPECT_EQ(verdict.never_linked, 0u)
      << testing::PrintToString(verdict.never_linked_urls);
}

TEST_F(TruthTest, NaiveCrawlerFindsExactlyTheTruthOfAHalfHttpsWeb) {
  Start("all", 90, 1500, 3, 0.5);
  const CrawlRules rules;
  NaiveCrawler crawler(
      server_->port(), rules,
      {.port = server_->tls_port(), .ca_pem = CertificateMaker(3).CaPem()});
  const auto crawled = crawler.Crawl(Seeds());
  ExpectSame(TrueOutcomes(*web_, rules), crawled);
  // Every nasty kind occurred.
  NastySet met;
  std::map<std::string, int> outcomes;
  for (const auto& [url, outcome] : crawled) {
    const Ref ref = web_->FindUrl(url).value();
    met.set(static_cast<size_t>(web_->KindOf(ref)));
    if (ref.http_form) ++outcomes[outcome];
  }
  EXPECT_GT(outcomes["moved"], 50);
  EXPECT_GT(outcomes["blocked"], 0);
  EXPECT_EQ(outcomes.size(), 2u);
  int tls_kinds = 0;
  for (const NastyInfo& info : AllNasty()) {
    tls_kinds += info.group == "tls" && Has(met, info.kind);
  }
  EXPECT_EQ(tls_kinds, 7);

  ASSERT_TRUE(server_->Stop().ok());
  const Verdict verdict =
      Judge(*web_, server_->Log(), {.delay = absl::ZeroDuration()});
  EXPECT_EQ(verdict.forbidden, 0u)
      << testing::PrintToString(verdict.forbidden_urls);
  EXPECT_EQ(verdict.never_linked, 0u)
      << testing::PrintToString(verdict.never_linked_urls);
}

TEST_F(TruthTest, AnotherAgentWithOtherLimitsFindsItsOwnTruth) {
  Start("robots,redirects,traps,pages", 30, 600, 5);
  const CrawlRules rules = {.agent = "somebody",
                            .max_url_bytes = 250,
                            .max_path_depth = 0,
                            .max_segment_repeats = 0,
                            .max_query_parameters = 0,
                            .follow_frames = true};
  NaiveCrawler crawler(server_->port(), rules);
  ExpectSame(TrueOutcomes(*web_, rules), crawler.Crawl(Seeds()));
}

TEST_F(TruthTest, AnOrdinaryWebIsFetchedWhole) {
  Start("none", 25, 500, 9);
  NaiveCrawler crawler(server_->port(), {});
  const auto crawled = crawler.Crawl(Seeds());
  EXPECT_EQ(crawled.size(), 500u);
  ExpectSame(TrueOutcomes(*web_, {}), crawled);
}

TEST(TruthLimitsTest, EachLimitCountsWhatItsNameSays) {
  auto accepts = [](CrawlRules rules, std::string_view url) {
    return Truth(nullptr, rules).Accepts(url);
  };
  EXPECT_TRUE(accepts({.max_url_bytes = 15}, "http://a.test/b"));
  EXPECT_FALSE(accepts({.max_url_bytes = 14}, "http://a.test/b"));
  EXPECT_TRUE(accepts({.max_path_depth = 2}, "http://a.test/b/c/?d/e"));
  EXPECT_FALSE(accepts({.max_path_depth = 2}, "http://a.test/b/c/d"));
  EXPECT_TRUE(accepts({.max_query_parameters = 2}, "http://a.test/?b=1&c=2"));
  EXPECT_FALSE(accepts({.max_query_parameters = 1}, "http://a.test/?b=1&c=2"));
  EXPECT_TRUE(accepts({.max_query_bytes = 3}, "http://a.test/?b=1"));
  EXPECT_FALSE(accepts({.max_query_bytes = 2}, "http://a.test/?b=1"));
  EXPECT_TRUE(accepts({}, "http://a.test/b/b/c/b/b"));
  EXPECT_FALSE(accepts({}, "http://a.test/b/b/b"));
  EXPECT_TRUE(accepts({}, "http://a.test/x/b/c/b/c/y"));
  EXPECT_FALSE(accepts({}, "http://a.test/x/b/c/b/c/b/c/y"));
}

TEST(PageRankTest, MatchesTheKnownSolutionOfASmallGraph) {
  // 0 -> 1, 0 -> 2, 1 -> 2, 2 -> 0, 3 -> 2, solved by hand (damping 0.85).
  WebOptions options;
  options.hosts = 1;
  const auto web =
      Web::Create(options, Graph({{0, 1}, {0, 2}, {1, 2}, {2, 0}, {3, 2}}))
          .value();
  Truth truth(web.get(), {});
  const auto pages = truth.Reachable();
  const auto rank = PageRank(truth, pages);
  ASSERT_EQ(pages.size(), 4u);
  std::map<uint32_t, double> by_page;
  for (size_t i = 0; i < pages.size(); ++i) by_page[pages[i].ref.id] = rank[i];
  EXPECT_NEAR(by_page[0], 0.3725269, 1e-6);
  EXPECT_NEAR(by_page[1], 0.1958239, 1e-6);
  EXPECT_NEAR(by_page[2], 0.3941492, 1e-6);
  EXPECT_NEAR(by_page[3], 0.0375, 1e-9);
}

}  // namespace
}  // namespace gannet::fake_web
