// The fetcher with a fake network and a simulated clock: who is asked, when,
// and what becomes of pages that cannot be had.
#include "jobs/fetch/fetcher.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/site_store/site_store.h"
#include "tests/jobs/fetch/fake_network.h"
#include "tests/temporary_folder.h"

namespace gannet::jobs {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

storage::PageKey KeyOf(const std::string& url) {
  return storage::PageKeyOf(storage::Url::Parse(url).value());
}

Address At(std::string_view text) { return Address::Parse(text).value(); }

class FetcherTest : public testing::Test {
 protected:
  FetcherTest() {
    storage::SiteStoreSettings settings;
    settings.folder = folder_.path();
    settings.create = true;
    store_ = storage::SiteStore::Open(settings, storage::SystemClock()).value();
    settings_.delay = absl::Seconds(1);
    // Each host has an address of its own, unless a test says otherwise.
    script_.resolve = [this](std::string_view name) -> Addresses {
      const auto [at, is_new] =
          numbers_.try_emplace(std::string(name), numbers_.size() + 1);
      return std::vector<Address>{
          At(fmt::format("5.6.{}.{}", at->second / 250, at->second % 250 + 1))};
    };
  }

  storage::CrawlDb& db() { return store_->crawl_db(); }

  // A round that is to fetch these pages.
  void OpenRound(const std::vector<std::string>& urls) {
    std::vector<storage::PageKey> pages;
    for (const std::string& url : urls) pages.push_back(KeyOf(url));
    ASSERT_TRUE(db().incoming().Inject(pages, clock_.Now()).ok());
    ASSERT_TRUE(db().round().Open(clock_.Now()).ok());
    const size_t most = urls.size();
    ASSERT_TRUE(
        db().frontier().Claim(db().frontier().Top(most, most).value()).ok());
    ASSERT_TRUE(db().round().PayRoot().ok());
    ASSERT_TRUE(db().round().SetPhase(proto::FETCH).ok());
  }

  // Until the round is over, or `at_most` has passed.
  absl::Status Run(absl::Duration at_most = absl::Hours(10)) {
    Committer committer(store_.get(), {}, clock_,
                        [this](size_t pages) { fetcher_->Delivered(pages); });
    auto network = std::make_unique<FakeNetwork>(script_, clock_);
    network_ = network.get();
    fetcher_ = std::make_unique<Fetcher>(
        settings_, sites_, clock_, std::move(network), /*seed=*/7, &db(),
        &committer, [this](Answer answer) { Take(std::move(answer)); });
    began_ = clock_.SteadyNow();
    const absl::Status status =
        fetcher_->Run(began_ + at_most, stop_, broken_, is_over_);
    ran_ = clock_.SteadyNow() - began_;
    EXPECT_TRUE(committer.Finish().ok());
    return status;
  }

  void Take(Answer answer) {
    const size_t bytes = answer.response.body.size();
    fetcher_->BodyGone(bytes);
    answers_.emplace_back(answer.url.href(), answer.response.failure);
    fetcher_->Delivered(1);
    if (on_answer_) on_answer_();
  }

  // What was asked, in order, without http:// and the host's robots.txt.
  std::vector<std::string> Pages() const {
    std::vector<std::string> urls;
    for (const FakeNetwork::Asked& asked : network_->asked()) {
      if (asked.request.target == "/robots.txt") continue;
      urls.push_back(asked.request.url.substr(7));
    }
    return urls;
  }
  std::vector<std::string> Urls() const {
    std::vector<std::string> urls;
    for (const FakeNetwork::Asked& asked : network_->asked()) {
      urls.push_back(asked.request.url.substr(7));
    }
    return urls;
  }
  // From each answer of `url`'s host to its next request.
  std::vector<absl::Duration> Pauses(const std::string& host) const {
    std::vector<absl::Duration> pauses;
    absl::Time ended = absl::InfiniteFuture();
    for (const FakeNetwork::Asked& asked : network_->asked()) {
      if (!asked.request.url.starts_with("http://" + host + "/")) continue;
      if (ended != absl::InfiniteFuture())
        pauses.push_back(asked.began - ended);
      ended = asked.ended;
    }
    return pauses;
  }
  proto::HostRecord Host(const std::string& url) {
    const storage::PageKey key = KeyOf(url);
    return db()
        .records()
        .GetHost(storage::HostKey{std::string(storage::HostPartOf(key.bytes))})
        .value();
  }
  int64_t InRound() { return db().totals().round_pages; }

  TemporaryFolder folder_;
  std::unique_ptr<storage::SiteStore> store_;
  SimulatedClock clock_;
  FetchSettings settings_;
  size_t sites_ = 1;
  FakeNetwork::Script script_;
  std::map<std::string, size_t> numbers_;
  std::atomic<bool> stop_ = false, broken_ = false;
  std::function<bool()> is_over_;
  std::function<void()> on_answer_;
  FakeNetwork* network_ = nullptr;
  std::unique_ptr<Fetcher> fetcher_;
  absl::Time began_;
  absl::Duration ran_;
  std::vector<std::pair<std::string, Failure>> answers_;
};

TEST_F(FetcherTest, AHostIsAskedForItsRulesFirstAndThenForOnePageAtATime) {
  OpenRound({"http://a.example/1", "http://a.example/2", "http://a.example/3"});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Urls(), ElementsAre("a.example/robots.txt", "a.example/1",
                                  "a.example/2", "a.example/3"));
  EXPECT_EQ(network_->most_active(), 1u);
  EXPECT_THAT(Pauses("a.example"), Each(absl::Seconds(1)));
  // Nor is it asked before one delay has passed since the start.
  ASSERT_FALSE(network_->asked().empty());
  EXPECT_GE(network_->asked()[0].began - began_, absl::Seconds(1));
  EXPECT_THAT(answers_, SizeIs(3));
}

TEST_F(FetcherTest, ManyHostsAreAskedAtTheSameTimeButNoMoreThanAllowed) {
  std::vector<std::string> urls;
  for (int i = 0; i < 40; ++i)
    urls.push_back(fmt::format("http://h{}.example/", i));
  OpenRound(urls);
  settings_.connections = 8;
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(network_->most_active(), 8u);
  EXPECT_THAT(answers_, SizeIs(40));
}

TEST_F(FetcherTest, ACrawlDelayIsObeyedUpToItsCap) {
  script_.answer = [](const Request& request) {
    const bool is_slow = request.url.find("slow") != std::string::npos;
    if (request.target != "/robots.txt") return Http(200);
    return Http(200, fmt::format("User-agent: *\nCrawl-delay: {}\n",
                                 is_slow ? 7 : 1000));
  };
  OpenRound({"http://slow.example/1", "http://slow.example/2",
             "http://slowest.host/1", "http://rude.example/1",
             "http://rude.example/2"});
  ASSERT_TRUE(Run().ok());
  // After the rules, and between the pages.
  const absl::Duration slow = absl::Seconds(7), cap = settings_.max_crawl_delay;
  EXPECT_THAT(Pauses("slow.example"), ElementsAre(slow, slow));
  EXPECT_THAT(Pauses("slowest.host"), ElementsAre(slow));
  EXPECT_THAT(Pauses("rude.example"), ElementsAre(cap, cap));
}

TEST_F(FetcherTest, WhatTheRulesForbidIsNotAskedForAndNotLeftInTheRound) {
  script_.answer = [](const Request& request) {
    return request.target == "/robots.txt"
               ? Http(200, "User-agent: *\nDisallow: /no\n")
               : Http(200);
  };
  OpenRound(
      {"http://a.example/no", "http://a.example/no/2", "http://a.example/yes"});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Pages(), ElementsAre("a.example/yes"));
  EXPECT_EQ(InRound(), 1) << "the page that was delivered and not completed";
  EXPECT_EQ(db().totals().pages_by_state[proto::BLOCKED], 2);
}

TEST_F(FetcherTest, RulesAreKeptWithTheHostAndNotAskedForInTheNextRound) {
  OpenRound({"http://a.example/1"});
  ASSERT_TRUE(Run().ok());
  const std::vector<std::string> first = Urls();
  // The delivered page was not completed, so the same round goes on.
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(first, SizeIs(2));
  EXPECT_THAT(Urls(), ElementsAre("a.example/1"));
  clock_.Advance(settings_.robots_lifetime);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Urls(), ElementsAre("a.example/robots.txt", "a.example/1"));
}

TEST_F(FetcherTest, HostsOfOneAddressShareItsDelayTimesTheNumberOfSites) {
  script_.resolve = [](std::string_view) {
    return std::vector<Address>{At("5.6.7.1")};
  };
  sites_ = 3;
  OpenRound({"http://a.example/1", "http://b.example/1", "http://c.example/1"});
  ASSERT_TRUE(Run().ok());
  const auto& asked = network_->asked();
  ASSERT_THAT(asked, SizeIs(6));
  for (size_t i = 1; i < asked.size(); ++i) {
    EXPECT_GE(asked[i].began - asked[i - 1].began, absl::Seconds(3));
  }
}

TEST_F(FetcherTest, AShortRetryAfterIsWaitedForWithinTheRound) {
  int answers = 0;
  script_.answer = [&](const Request& request) {
    if (request.target == "/robots.txt") return Http(404);
    return ++answers == 1 ? Http(503, "", "Retry-After: 8\r\n") : Http(200);
  };
  OpenRound({"http://a.example/1", "http://a.example/2"});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Pauses("a.example"),
              ElementsAre(absl::Seconds(1), absl::Seconds(8)));
}

TEST_F(FetcherTest, ALongRestGivesTheHostsOtherPagesBackAndIsRemembered) {
  script_.answer = [](const Request& request) {
    return request.target == "/robots.txt"
               ? Http(404)
               : Http(429, "", "Retry-After: 3600\r\n");
  };
  OpenRound({"http://a.example/1", "http://a.example/2", "http://b.other/1"});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Pages(), UnorderedElementsAre("a.example/1", "b.other/1"));
  EXPECT_EQ(InRound(), 2) << "delivered; the third is in the frontier again";
  const absl::Time until =
      absl::FromUnixMillis(Host("http://a.example/").rest_until_ms());
  EXPECT_NEAR(absl::ToDoubleSeconds(until - clock_.Now()), 3600, 10);
  // In the same round it is not asked again.
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Urls(), IsEmpty());
}

TEST_F(FetcherTest, ANameThatDoesNotExistFailsAllPagesOfItsHost) {
  script_.resolve = [](std::string_view name) -> Addresses {
    if (name == "a.example") return absl::NotFoundError("no such name");
    return std::vector<Address>{At("5.6.7.1")};
  };
  OpenRound({"http://a.example/1", "http://a.example/2", "http://b.example/1"});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(answers_,
              UnorderedElementsAre(
                  std::pair("http://a.example/1", Failure::kNameNotFound),
                  std::pair("http://a.example/2", Failure::kNameNotFound),
                  std::pair("http://b.example/1", Failure::kNone)));
}

TEST_F(FetcherTest, AnAddressThatIsNotAllowedIsNeverAsked) {
  script_.resolve = [](std::string_view name) -> Addresses {
    return std::vector<Address>{
        At(name == "a.example" ? "10.0.0.1" : "169.254.169.254")};
  };
  OpenRound({"http://a.example/1", "http://b.example/1"});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Urls(), IsEmpty());
  EXPECT_THAT(answers_,
              ElementsAre(testing::Pair(testing::_, Failure::kAddressRefused),
                          testing::Pair(testing::_, Failure::kAddressRefused)));
}

TEST_F(FetcherTest, OfSeveralAddressesTheFirstThatIsAllowedIsAsked) {
  script_.resolve = [](std::string_view) -> Addresses {
    return std::vector<Address>{At("127.0.0.1"), At("5.6.7.9")};
  };
  OpenRound({"http://a.example/1"});
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(network_->asked().at(0).request.address, At("5.6.7.9"));
}

TEST_F(FetcherTest, ARobotsRedirectIsFollowedInTheTurnOfTheHostItLeadsTo) {
  script_.answer = [](const Request& request) {
    if (request.url == "http://a.example/robots.txt") {
      return Http(301, "", "Location: http://b.example/rules\r\n");
    }
    if (request.url == "http://b.example/rules") {
      return Http(200, "User-agent: *\nDisallow: /no\n");
    }
    return request.target == "/robots.txt" ? Http(404) : Http(200);
  };
  OpenRound(
      {"http://a.example/no", "http://a.example/yes", "http://b.example/no"});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Pages(), UnorderedElementsAre("a.example/yes", "b.example/rules",
                                            "b.example/no"));
  EXPECT_THAT(Pauses("b.example"), Each(Ge(absl::Seconds(1))));
}

TEST_F(FetcherTest, ARobotsRedirectToABlockedHostIsNotFollowed) {
  script_.answer = [](const Request& request) {
    return request.target == "/robots.txt"
               ? Http(301, "", "Location: http://b.example/rules\r\n")
               : Http(200);
  };
  ASSERT_TRUE(db().blocks().Block("b.example").ok());
  OpenRound({"http://a.example/1"});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Urls(), ElementsAre("a.example/robots.txt"));
  EXPECT_EQ(db().totals().pages_by_state[proto::BLOCKED], 1) << "rules say no";
}

TEST_F(FetcherTest, ClosedRulesCloseTheHostForAnHour) {
  script_.answer = [](const Request&) { return Http(500); };
  OpenRound({"http://a.example/1"});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Pages(), IsEmpty());
  const proto::HostRecord host = Host("http://a.example/");
  ASSERT_EQ(host.robots_size(), 1);
  EXPECT_NEAR(static_cast<double>(host.robots(0).expires_ms()),
              static_cast<double>(absl::ToUnixMillis(clock_.Now())) +
                  absl::ToDoubleMilliseconds(settings_.closed_lifetime),
              5000);
}

TEST_F(FetcherTest, AtTheDeadlineWhatIsLeftGoesBackToTheFrontier) {
  std::vector<std::string> urls;
  for (int i = 0; i < 100; ++i)
    urls.push_back(fmt::format("http://a.example/{}", i));
  OpenRound(urls);
  ASSERT_TRUE(Run(absl::Seconds(20)).ok());
  EXPECT_LT(ran_, absl::Seconds(20) + settings_.stop_grace);
  EXPECT_THAT(answers_, SizeIs(testing::AllOf(Ge(15u), testing::Le(19u))));
  EXPECT_EQ(InRound(), static_cast<int64_t>(answers_.size()));
}

TEST_F(FetcherTest, AtAStopWhatIsLeftStaysInTheRound) {
  std::vector<std::string> urls;
  for (int i = 0; i < 100; ++i)
    urls.push_back(fmt::format("http://a.example/{}", i));
  OpenRound(urls);
  on_answer_ = [&] { stop_ = answers_.size() >= 5; };
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(answers_, SizeIs(5));
  EXPECT_EQ(InRound(), 100);
}

TEST_F(FetcherTest, ARequestThatDoesNotEndIsCutOffSoonAfterAStop) {
  script_.answer_takes = absl::Hours(5);
  OpenRound({"http://a.example/1"});
  is_over_ = [&] { return clock_.SteadyNow() - began_ > absl::Minutes(1); };
  ASSERT_TRUE(Run().ok());
  EXPECT_LT(ran_, absl::Minutes(1) + settings_.stop_grace + absl::Seconds(1));
  EXPECT_EQ(InRound(), 0);
}

TEST_F(FetcherTest, ADomainThatIsBlockedMeanwhileIsAskedForNothingMore) {
  std::vector<std::string> urls;
  for (int i = 0; i < 20; ++i)
    urls.push_back(fmt::format("http://a.example/{}", i));
  OpenRound(urls);
  on_answer_ = [&] {
    if (answers_.size() == 3) {
      ASSERT_TRUE(db().blocks().Block("a.example").ok());
    }
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(answers_, SizeIs(3));
}

TEST_F(FetcherTest, WithoutAnyNetworkTheRoundStopsInsteadOfFailingAllPages) {
  std::vector<std::string> urls;
  for (int i = 0; i < 300; ++i)
    urls.push_back(fmt::format("http://h{}.example/", i));
  script_.resolve = [](std::string_view) -> Addresses {
    return absl::UnavailableError("no answer");
  };
  OpenRound(urls);
  const absl::Status status = Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("is this machine's network"));
  EXPECT_LT(answers_.size(), 110u);
}

TEST_F(FetcherTest, WithoutSocketsNothingFailsAndAfterTwoMinutesTheRoundStops) {
  script_.answer = [](const Request&) { return Failed(Failure::kNoSocket); };
  OpenRound({"http://a.example/1", "http://b.example/1", "http://c.example/1"});
  const absl::Status status = Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("ulimit -n"));
  EXPECT_THAT(ran_, AllOf(Ge(absl::Minutes(2)), testing::Lt(absl::Minutes(5))));
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_EQ(InRound(), 3);
}

TEST_F(FetcherTest, AShortageOfSocketsIsOutlived) {
  const absl::Time free = clock_.SteadyNow() + absl::Seconds(30);
  script_.answer = [&](const Request& request) {
    if (clock_.SteadyNow() < free) return Failed(Failure::kNoSocket);
    return request.target == "/robots.txt" ? Http(404) : Http(200);
  };
  OpenRound({"http://a.example/1", "http://b.example/1"});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(answers_, UnorderedElementsAre(
                            std::pair("http://a.example/1", Failure::kNone),
                            std::pair("http://b.example/1", Failure::kNone)));
}

TEST_F(FetcherTest, TheBandwidthOfAllTransfersIsBounded) {
  script_.answer = [](const Request& request) {
    return request.target == "/robots.txt"
               ? Http(404)
               : Http(200, std::string(100'000, 'x'));
  };
  settings_.bandwidth = 50'000;
  std::vector<std::string> urls;
  for (int i = 0; i < 20; ++i)
    urls.push_back(fmt::format("http://h{}.example/", i));
  OpenRound(urls);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(answers_, SizeIs(20));
  // 2 MB; the last three transfers need not be waited for.
  EXPECT_GE(ran_, absl::Seconds(2'000'000 / 50'000 - 3 * 2));
}

TEST_F(FetcherTest, ManyBigRulesArePutAsideAndReadAgainInsteadOfKept) {
  const std::string big =
      "User-agent: *\nDisallow: /no\n#" + std::string(400 << 10, 'x') + "\n";
  script_.answer = [&](const Request& request) {
    return request.target == "/robots.txt" ? Http(200, big) : Http(200);
  };
  settings_.rules_memory = 4 << 20;
  std::vector<std::string> urls;
  for (int i = 0; i < 30; ++i) {
    urls.push_back(fmt::format("http://h{}.example/yes", i));
    urls.push_back(fmt::format("http://h{}.example/no", i));
  }
  OpenRound(urls);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(answers_, SizeIs(30));
  EXPECT_THAT(network_->asked(), SizeIs(60)) << "robots.txt once a host";
  EXPECT_EQ(db().totals().pages_by_state[proto::BLOCKED], 30);
}

TEST_F(FetcherTest, AHostWithTooManyPortsIsNotAskedForAllTheirRules) {
  std::vector<std::string> urls;
  for (int i = 0; i < 20; ++i) {
    urls.push_back(fmt::format("http://a.example:{}/", 8000 + i));
  }
  OpenRound(urls);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(answers_, SizeIs(8));
  EXPECT_EQ(db().totals().pages_by_state[proto::BLOCKED], 12);
}

TEST_F(FetcherTest, AFailureOfTheServerIsRememberedAndASuccessForgetsIt) {
  int answers = 0;
  script_.answer = [&](const Request& request) {
    if (request.target == "/robots.txt") return Http(404);
    return ++answers <= 2 ? Failed(Failure::kConnectRefused) : Http(200);
  };
  OpenRound({"http://a.example/1", "http://a.example/2", "http://a.example/3"});
  on_answer_ = [&] { stop_ = answers_.size() == 2; };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Host("http://a.example/").failures(), 2u);
  stop_ = false;
  on_answer_ = nullptr;
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Host("http://a.example/").failures(), 0u);
}

TEST_F(FetcherTest, ThroughAProxyNoNameIsResolvedHere) {
  settings_.download.proxy = "http://5.6.7.200:3128";
  settings_.allow_private = true;
  OpenRound({"http://a.example/1"});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(network_->names(), IsEmpty());
  EXPECT_THAT(Pages(), ElementsAre("a.example/1"));
}

}  // namespace
}  // namespace gannet::jobs
