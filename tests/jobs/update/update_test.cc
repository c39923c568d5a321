// update against a slow, obvious model: sum, sort, take the best.
#include "jobs/update/update.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "federation/map/map_changes.h"
#include "federation/ownership/ownership.h"
#include "jobs/update/target_sums.h"
#include "tests/temporary_folder.h"

namespace gannet::jobs {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

storage::PageKey KeyOf(const std::string& url) {
  return storage::PageKeyOf(storage::Url::Parse(url).value());
}

// A crawl DB whose round is in its update phase: some pages were fetched, and
// link at random.
class UpdateTest : public testing::Test {
 protected:
  static constexpr int kSeeds = 12;
  static constexpr int kTargets = 300;

  struct Result {
    std::set<std::string> admitted;  // New pages.
    std::map<std::string, int64_t> deferred;
    std::map<std::string, int64_t> dropped;  // By reason.
    std::map<storage::SiteId, std::map<std::string, int64_t>> sent;
  };

  void SetUp() override {
    std::mt19937 random(7);
    for (int i = 0; i < kSeeds; ++i) {
      seeds_.push_back(KeyOf(fmt::format("http://s{}.example/", i)));
      std::set<storage::PageKey> links;
      const int count = 1 + static_cast<int>(random() % 90);
      for (int j = 0; j < count; ++j) {
        const int target = static_cast<int>(random() % kTargets);
        links.insert(
            KeyOf(fmt::format("http://t{}.example/{}", target % 5, target)));
      }
      if (i > 0) links.insert(seeds_.front());  // Known already.
      links_.emplace_back(links.begin(), links.end());
      const auto each =
          storage::kSeedCash / static_cast<int64_t>(links_.back().size());
      for (const storage::PageKey& link : links) {
        if (link != seeds_.front()) sums_[link.bytes] += each;
      }
    }
  }

  Result Run(const UpdateSettings& settings) {
    TemporaryFolder folder;
    storage::CrawlDbSettings db_settings;
    db_settings.folder = folder.path();
    auto db = storage::CrawlDb::Open(db_settings).value();
    EXPECT_TRUE(db->incoming().Inject(seeds_, kNow).ok());
    for (const auto& [url, cash] : waiting_) Defer(*db, url, cash);
    EXPECT_TRUE(db->round().Open(kNow).ok());
    EXPECT_TRUE(
        db->frontier().Claim(db->frontier().Top(1000, 1000).value()).ok());
    EXPECT_TRUE(db->round().PayRoot().ok());
    EXPECT_TRUE(db->round().SetPhase(proto::FETCH).ok());
    for (size_t i = 0; i < seeds_.size(); ++i) {
      storage::Completion done;
      done.page = seeds_[i];
      done.outcome.set_state(proto::FETCHED);
      done.outcome.set_finished_reason("fetched");
      done.keeps_history = true;
      done.outlinks = links_[i];
      EXPECT_TRUE(db->round().Complete({done}, {}, {}).ok());
    }
    EXPECT_TRUE(db->round().SetPhase(proto::UPDATE).ok());
    if (before_update_) before_update_(*db);
    std::atomic<bool> stop = false;
    UpdateView view;
    const absl::Status updated = Update(*db, settings, kNow, stop, view);
    EXPECT_TRUE(updated.ok()) << updated;
    Result result;
    std::set<storage::PageKey> seeds(seeds_.begin(), seeds_.end());
    for (const auto& [url, cash] : waiting_) {
      seeds.insert(KeyOf("http://source.example/to/" + url));
    }
    EXPECT_TRUE(
        db->records()
            .ScanPages(
                {},
                [&](std::string_view page, const proto::PageRecord&) {
                  if (!seeds.contains(storage::PageKey{std::string(page)})) {
                    result.admitted.insert(std::string(page));
                  }
                  return true;
                })
            .ok());
    const auto deferred = db->waiting().TopDeferred(100'000);
    EXPECT_TRUE(deferred.ok());
    for (const storage::FoundUrl& url : *deferred) {
      result.deferred[url.page.bytes] = url.cash;
    }
    for (const uint32_t id : {2, 3}) {
      const storage::Peer peer{storage::SiteId{id}, 1};
      EXPECT_TRUE(db->outgoing().OpenPair(peer).ok());
      for (auto cut = db->outgoing().CutOutbox(peer, 1000); cut.ok();
           cut = db->outgoing().CutOutbox(peer, 1000)) {
        for (const proto::FoundUrl& url : cut->batch.urls()) {
          result.sent[peer.site][url.page()] = url.cash();
        }
      }
    }
    const proto::RoundJournal journal = db->round().journal();
    for (const auto& [reason, cash] : journal.counts().dropped()) {
      result.dropped[reason] = cash;
    }
    EXPECT_TRUE(db->round().Close("{}").ok());
    const auto checks = db->checks().Verify(/*full=*/true);
    EXPECT_TRUE(checks.ok()) << checks.status();
    if (checks.ok()) {
      for (const storage::Check& check : *checks) {
        EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
      }
    }
    return result;
  }

  // Runs a round whose one page gives `cash` to `url`, which is deferred.
  static void Defer(storage::CrawlDb& db, const std::string& url,
                    int64_t cash) {
    const storage::PageKey source = KeyOf("http://source.example/to/" + url);
    ASSERT_TRUE(
        db.incoming().PutIfAbsent({{source, int64_t{1} << 50}}, {kNow}).ok());
    ASSERT_TRUE(db.round().Open(kNow).ok());
    ASSERT_EQ(db.frontier().Claim(db.frontier().Top(1, 1).value()).value(), 1);
    ASSERT_TRUE(db.round().PayRoot().ok());
    ASSERT_TRUE(db.round().SetPhase(proto::FETCH).ok());
    storage::Completion done;
    done.page = source;
    done.outcome.set_state(proto::FETCHED);
    done.outlinks = {KeyOf(url)};
    ASSERT_EQ(db.round().Complete({done}, {}, {}).value(), 1);
    ASSERT_TRUE(db.round().SetPhase(proto::UPDATE).ok());
    storage::Settlement batch;
    batch.cursor = done.outlinks[0].bytes;
    batch.deferred = {{done.outlinks[0], cash}};
    batch.dropped = {{"for the test", db.totals().round - cash, 0}};
    ASSERT_TRUE(db.round().Settle(batch, {kNow}).ok());
    ASSERT_TRUE(db.round().Close("{}").ok());
  }

  // Each page links to one of `targets`, which gets the page's cash.
  void LinkEachTo(const std::vector<std::string>& targets) {
    seeds_.clear();
    links_.clear();
    sums_.clear();
    for (size_t i = 0; i < targets.size(); ++i) {
      seeds_.push_back(KeyOf(fmt::format("http://s{}.example/", i)));
      links_.push_back({KeyOf(targets[i])});
      sums_[links_.back()[0].bytes] += storage::kSeedCash;
    }
  }

  static size_t CountOf(const std::set<std::string>& pages,
                        const std::string& url) {
    return pages.count(KeyOf(url).bytes);
  }

  // The cash of the best `count` targets, most first.
  std::vector<int64_t> BestCash(size_t count) const {
    std::vector<int64_t> cash;
    for (const auto& [page, sum] : sums_) cash.push_back(sum);
    std::sort(cash.rbegin(), cash.rend());
    cash.resize(std::min(count, cash.size()));
    return cash;
  }
  std::vector<int64_t> CashOf(const std::set<std::string>& pages) const {
    std::vector<int64_t> cash;
    for (const std::string& page : pages) cash.push_back(sums_.at(page));
    std::sort(cash.rbegin(), cash.rend());
    return cash;
  }

  std::function<void(storage::CrawlDb&)> before_update_;
  std::map<std::string, int64_t> waiting_;  // Deferred before: URL to cash.
  std::vector<storage::PageKey> seeds_;
  std::vector<std::vector<storage::PageKey>> links_;
  // The model: the cash that each new target gets.
  std::map<std::string, int64_t> sums_;
};

// This site is the first of three. Targets of many domains.
class FederatedUpdateTest : public UpdateTest {
 protected:
  FederatedUpdateTest() {
    federation::Applicant site;
    site.incarnation = 1;
    site.address = "127.0.0.1:7701";
    site.name = "tokyo";
    federation::Map map =
        federation::FoundFederation(site, 5, {}, true).value();
    for (const char* name : {"paris", "oslo"}) {
      site.name = name;
      map = federation::Invite(map, name).value();
      map = federation::Join(map, site).value();
      map = federation::FinishHandOff(map).value();
    }
    map_ = federation::MapView::Create(map, "tokyo").value();
  }
  void SetUp() override {
    std::mt19937 random(3);
    for (int i = 0; i < kSeeds; ++i) {
      seeds_.push_back(KeyOf(fmt::format("http://s{}.example/", i)));
      std::set<storage::PageKey> links;
      for (int j = 0; j < 60; ++j) {
        const int target = static_cast<int>(random() % kTargets);
        links.insert(KeyOf(
            fmt::format("http://www.t{}.example/{}", target / 3, target)));
      }
      links_.emplace_back(links.begin(), links.end());
      for (const storage::PageKey& link : links) {
        sums_[link.bytes] +=
            storage::kSeedCash / static_cast<int64_t>(links.size());
      }
    }
  }

  UpdateSettings With(int64_t new_pages) {
    UpdateSettings settings;
    settings.new_pages = new_pages;
    settings.map = map_;
    settings.sent = &*sent_;
    return settings;
  }
  std::map<std::string, int64_t> TargetsOf(uint32_t site) const {
    std::map<std::string, int64_t> targets;
    for (const auto& [page, cash] : sums_) {
      if (federation::Ownership(*map_).OwnerOf(page) == storage::SiteId{site})
        targets[page] = cash;
    }
    return targets;
  }
  // The cash of the best of them, most first.
  static std::vector<int64_t> Best(
      const std::map<std::string, int64_t>& targets, size_t count) {
    std::vector<int64_t> cash;
    for (const auto& [page, sum] : targets) cash.push_back(sum);
    std::sort(cash.rbegin(), cash.rend());
    cash.resize(std::min(count, cash.size()));
    return cash;
  }

  std::shared_ptr<const federation::MapView> map_;
  std::optional<federation::SentUrlCache> sent_{std::in_place, 1 << 20, 7};
};

TEST_F(FederatedUpdateTest, EachTargetGoesToItsOwner) {
  const Result result = Run(With(100'000));
  EXPECT_EQ(result.admitted.size(), TargetsOf(1).size());
  for (const uint32_t site : {2, 3}) {
    EXPECT_GT(TargetsOf(site).size(), 50u);
    EXPECT_EQ(result.sent.at(storage::SiteId{site}), TargetsOf(site));
  }
  EXPECT_TRUE(result.deferred.empty());
}

TEST_F(FederatedUpdateTest, WhatWasSentBeforeIsNotSentAgain) {
  (void)Run(With(100'000));
  // The second run has a new crawl DB, and the cache of the first.
  const Result again = Run(With(100'000));
  EXPECT_TRUE(again.sent.empty());
  int64_t cash = 0;
  for (const uint32_t site : {2, 3}) {
    for (const auto& [page, sum] : TargetsOf(site)) cash += sum;
  }
  EXPECT_EQ(again.dropped.at(storage::kSentBefore), cash);
  sent_->Clear(storage::SiteId{3});
  const Result cleared = Run(With(100'000));
  EXPECT_EQ(cleared.sent.size(), 1u);
  EXPECT_EQ(cleared.sent.at(storage::SiteId{3}), TargetsOf(3));
}

TEST_F(FederatedUpdateTest, InCashModeWhatWasSentBeforeGainsLater) {
  federation::Map map = map_->map();
  map.mutable_rules()->set_exchange(proto::EXCHANGE_CASH);
  map_ = federation::MapView::Create(map, "tokyo").value();
  (void)Run(With(100'000));
  // To a new pair of sites, gains would be sent at once.
  before_update_ = [](storage::CrawlDb& db) {
    for (const uint32_t id : {2, 3}) {
      ASSERT_TRUE(db.outgoing().OpenPair({storage::SiteId{id}, 1}).ok());
    }
  };
  UpdateSettings settings = With(100'000);
  const Result apart = Run(settings);  // Round 1 of 4.
  EXPECT_TRUE(apart.sent.empty());
  EXPECT_FALSE(apart.dropped.contains(storage::kSentBefore));
  settings.gain_every = 1;
  const Result released = Run(settings);
  for (const uint32_t site : {2, 3}) {
    EXPECT_EQ(released.sent.at(storage::SiteId{site}), TargetsOf(site));
  }
}

TEST_F(FederatedUpdateTest, InterruptedAndRunAgainOtherSitesGetPlacesOnce) {
  before_update_ = [&](storage::CrawlDb& db) {
    storage::Settlement batch;
    for (const auto& [page, cash] : sums_) {
      const storage::FoundUrl url{storage::PageKey{page}, cash};
      const auto owner = federation::Ownership(*map_).OwnerOf(page);
      if (owner == storage::SiteId{1}) {
        batch.local.push_back(url);
      } else if (owner == storage::SiteId{2}) {
        batch.remote.emplace_back(*owner, url);
      } else {
        batch.deferred.push_back(url);
      }
      batch.cursor = page;
      if (batch.remote.size() == 5) break;
    }
    ASSERT_TRUE(db.round().Settle(batch, {kNow}).ok());
    ASSERT_EQ(db.round().journal().counts().sent_to().at(2), 5);
  };
  const Result result = Run(With(60));
  EXPECT_EQ(result.sent.at(storage::SiteId{2}).size(), 20u);
  EXPECT_EQ(result.sent.at(storage::SiteId{3}).size(), 20u);
}

TEST_F(FederatedUpdateTest, EachSiteGetsTheBestOfItsOwnAndTheOthersWait) {
  for (const size_t in_memory : {100'000, 40}) {
    sent_.emplace(1 << 20, 7);
    UpdateSettings settings = With(60);
    settings.targets_in_memory = in_memory;
    settings.batch = 9;
    const Result result = Run(settings);
    EXPECT_EQ(CashOf(result.admitted), Best(TargetsOf(1), 60));
    size_t out = result.admitted.size();
    for (const uint32_t site : {2, 3}) {
      const auto& sent = result.sent.at(storage::SiteId{site});
      EXPECT_EQ(Best(sent, sent.size()), Best(TargetsOf(site), 20));
      out += sent.size();
    }
    EXPECT_EQ(out + result.deferred.size(), sums_.size());
  }
}

// A deferred URL that is found again competes once, with the cash of both, and
// is sent once.
TEST_F(FederatedUpdateTest, DeferredUrlsCompeteForThePlacesOfTheirSite) {
  const std::string poor = TargetsOf(2).begin()->first;
  std::string url;
  for (int i = 0; i < kTargets; ++i) {
    url = fmt::format("http://www.t{}.example/{}", i / 3, i);
    if (KeyOf(url).bytes == poor) break;
  }
  waiting_[url] = storage::kSeedCash;  // More than any other target has.
  const Result result = Run(With(3));
  const auto& sent = result.sent.at(storage::SiteId{2});
  EXPECT_EQ(sent.size(), 1u);
  ASSERT_TRUE(sent.contains(poor));
  EXPECT_EQ(sent.at(poor), sums_.at(poor) + storage::kSeedCash);
  EXPECT_FALSE(result.deferred.contains(poor));
}

TEST_F(FederatedUpdateTest, PlacesThatAreLeftGoToDeferredUrls) {
  for (int i = 0; i < 40; ++i) {
    waiting_[fmt::format("http://www.w{}.example/", i)] = 100 + i;
  }
  links_.assign(kSeeds, {});
  sums_.clear();
  const Result result = Run(With(9));
  EXPECT_EQ(result.admitted.size(), 9u);
  EXPECT_EQ(result.sent.at(storage::SiteId{2}).size(), 3u);
  EXPECT_EQ(result.sent.at(storage::SiteId{3}).size(), 3u);
  EXPECT_EQ(result.deferred.size(), 25u);
}

TEST_F(UpdateTest, WithRoomForAllEveryTargetGetsIn) {
  const Result result = Run({.new_pages = 100'000});
  EXPECT_EQ(result.admitted.size(), sums_.size());
  EXPECT_TRUE(result.deferred.empty());
}

TEST_F(UpdateTest, OverTheQuotaExactlyTheBestGetInAndTheOthersWait) {
  for (const int64_t quota : {1, 2, 17, 100, 200}) {
    const Result result = Run({.new_pages = quota});
    EXPECT_EQ(result.admitted.size(), static_cast<size_t>(quota));
    EXPECT_EQ(CashOf(result.admitted), BestCash(static_cast<size_t>(quota)));
    EXPECT_EQ(result.admitted.size() + result.deferred.size(), sums_.size());
    for (const auto& [page, cash] : result.deferred) {
      EXPECT_EQ(cash, sums_.at(page));
    }
  }
}

TEST_F(UpdateTest, ReadInManyRangesTheResultIsTheSame) {
  const Result whole = Run({.new_pages = 60});
  for (const size_t in_memory : {1, 10, 50}) {
    const Result ranges =
        Run({.new_pages = 60, .targets_in_memory = in_memory, .batch = 7});
    EXPECT_EQ(ranges.admitted, whole.admitted);
    EXPECT_EQ(ranges.deferred, whole.deferred);
  }
}

TEST_F(UpdateTest, WhatIsDroppedOverTheQuotaIsCounted) {
  const Result result = Run({.new_pages = 60, .drop_over_quota = true});
  EXPECT_EQ(CashOf(result.admitted), BestCash(60));
  EXPECT_TRUE(result.deferred.empty());
  int64_t lost = 0;
  for (const auto& [page, cash] : sums_) {
    if (!result.admitted.contains(page)) lost += cash;
  }
  EXPECT_EQ(result.dropped.at("over_quota"), lost);
}

// All targets of a front page get the same cash, so that all tie.
TEST_F(UpdateTest, OfManyThatTieAsManyGetInAsThereIsRoom) {
  sums_.clear();
  links_.assign(kSeeds, {});
  for (int i = 0; i < kSeeds; ++i) {
    for (int j = 0; j < 32; ++j) {
      links_[i].push_back(KeyOf(fmt::format("http://t{}.example/{}", i, j)));
      sums_[links_[i].back().bytes] = storage::kSeedCash / 32;
    }
  }
  for (const bool drop : {false, true}) {
    for (const size_t in_memory : {100'000, 40}) {
      const Result result = Run({.new_pages = 100,
                                 .drop_over_quota = drop,
                                 .targets_in_memory = in_memory,
                                 .batch = 9});
      EXPECT_EQ(result.admitted.size(), 100u);
      EXPECT_EQ(result.deferred.size(), drop ? 0 : sums_.size() - 100);
    }
  }
}

// What an interrupted run has let in counts, and the rest competes for the
// places that are left.
TEST_F(UpdateTest, InterruptedAndRunAgainTheQuotaHolds) {
  before_update_ = [&](storage::CrawlDb& db) {
    std::map<std::string, int64_t> all;
    ASSERT_TRUE(db.round()
                    .ForEachOutlinks([&](std::string_view,
                                         const proto::OutlinkSegment& segment) {
                      for (const std::string& target : segment.targets()) {
                        all[target] += segment.cash_each();
                      }
                    })
                    .ok());
    storage::Settlement batch;
    for (const auto& [page, cash] : all) {
      if (batch.local.size() == 50) break;
      batch.local.push_back({storage::PageKey{page}, cash});
    }
    batch.cursor = batch.local.back().page.bytes;
    batch.most_with_least_cash = 0;
    batch.least_cash_for_new = BestCash(20).back();
    const auto counts = db.round().Settle(batch, {kNow});
    ASSERT_TRUE(counts.ok()) << counts.status();
    ASSERT_GT(counts->added, 0);
    ASSERT_GT(counts->deferred, 0);
  };
  const Result result = Run({.new_pages = 60});
  EXPECT_EQ(CashOf(result.admitted), BestCash(60));
  EXPECT_EQ(result.admitted.size() + result.deferred.size(), sums_.size());
}

TEST_F(UpdateTest, AFullHostGetsNoMorePagesWhetherAtOnceOrDeferred) {
  for (const int64_t quota : {100'000, 40, 10}) {
    const Result result = Run({.new_pages = quota, .max_pages_per_host = 4});
    std::map<std::string, int> by_host;
    for (const std::string& page : result.admitted) {
      ++by_host[std::string(storage::HostPartOf(page))];
    }
    for (const auto& [host, pages] : by_host) EXPECT_LE(pages, 4) << host;
  }
}

// In the tests that follow, many of the richest targets cannot get in, and
// still no place must stay empty.
TEST_F(UpdateTest, TargetsOfABlockedDomainTakeNoPlaces) {
  std::vector<std::string> targets;
  for (int i = 0; i < 40; ++i) {
    targets.push_back(fmt::format("http://blocked.example/{}", i / 2));
  }
  for (int i = 0; i < 40; ++i) {
    targets.push_back(fmt::format("http://good{}.example/", i));
  }
  LinkEachTo(targets);
  before_update_ = [](storage::CrawlDb& db) {
    ASSERT_TRUE(db.blocks().Block("blocked.example").ok());
  };
  for (const bool drop : {true, false}) {
    for (const size_t in_memory : {100'000, 8}) {
      const Result result = Run({.new_pages = 10,
                                 .drop_over_quota = drop,
                                 .targets_in_memory = in_memory});
      EXPECT_EQ(result.admitted.size(), 10u);
      EXPECT_EQ(result.dropped.at(storage::kBlockedByOperator),
                40 * storage::kSeedCash);
    }
  }
}

TEST_F(UpdateTest, TargetsOfAFullHostTakeNoPlacesAndItsBestGetIn) {
  // s0.example has one page already, and may have three more: 7, 8 and 9.
  std::vector<std::string> targets;
  for (int i = 0; i < 10; ++i) {
    for (int n = 0; n <= i + 1; ++n) {
      targets.push_back(fmt::format("http://s0.example/{}", i));
    }
  }
  for (int i = 0; i < 40; ++i) {
    targets.push_back(fmt::format("http://good{}.example/", i));
  }
  LinkEachTo(targets);
  for (const bool drop : {true, false}) {
    for (const size_t in_memory : {100'000, 8}) {
      const Result result = Run({.new_pages = 10,
                                 .drop_over_quota = drop,
                                 .max_pages_per_host = 4,
                                 .targets_in_memory = in_memory});
      EXPECT_EQ(result.admitted.size(), 10u);
      // A host with more links than fit into a range: they are taken range by
      // range.
      for (int i = 0; i < 10 && in_memory > 100; ++i) {
        EXPECT_EQ(
            CountOf(result.admitted, fmt::format("http://s0.example/{}", i)),
            i >= 7 ? 1u : 0u)
            << i;
      }
    }
  }
}

// The poor targets of the host come first in key order, and tie with the bar.
TEST_F(UpdateTest, OfAHostThatFillsUpATieDoesNotCostThePlaceOfARicherOne) {
  std::vector<std::string> targets = {
      "http://s0.example/1", "http://s0.example/2", "http://s0.example/2"};
  for (int i = 0; i < 20; ++i) {
    targets.push_back(fmt::format("http://good{}.example/", i));
  }
  LinkEachTo(targets);
  const Result result =
      Run({.new_pages = 6, .drop_over_quota = true, .max_pages_per_host = 2});
  EXPECT_EQ(result.admitted.size(), 6u);
  EXPECT_EQ(CountOf(result.admitted, "http://s0.example/1"), 0u);
  EXPECT_EQ(CountOf(result.admitted, "http://s0.example/2"), 1u);
}

TEST_F(UpdateTest, AUrlThatWaitsAndIsFoundAgainCompetesWithTheCashOfBoth) {
  const int64_t one = storage::kSeedCash;
  for (const size_t in_memory : {100'000, 2}) {
    // `again` waits with 1.5 and gets 1: more than the 2 of each rival.
    waiting_ = {{"http://again.example/", 3 * one / 2},
                {"http://other.example/", 3 * one / 2}};
    std::vector<std::string> targets = {"http://again.example/"};
    for (int i = 0; i < 12; ++i) {
      targets.push_back(fmt::format("http://rival{}.example/", i / 2));
    }
    LinkEachTo(targets);
    const Result result = Run({.new_pages = 4, .targets_in_memory = in_memory});
    EXPECT_EQ(result.admitted.size(), 4u);
    EXPECT_EQ(CountOf(result.admitted, "http://again.example/"), 1u);
    EXPECT_EQ(CountOf(result.admitted, "http://other.example/"), 0u);
    EXPECT_EQ(result.deferred.size(), 4u);  // Three rivals and `other`.
    EXPECT_FALSE(
        result.deferred.contains(KeyOf("http://again.example/").bytes));
  }
}

// If it was counted twice, a place would stay empty.
TEST_F(UpdateTest, AUrlThatWaitsAndIsFoundAgainTakesOnePlace) {
  const int64_t one = storage::kSeedCash;
  waiting_ = {{"http://again.example/", 10 * one}};
  std::vector<std::string> targets = {"http://again.example/",
                                      "http://again.example/",
                                      "http://again.example/"};
  for (int i = 0; i < 6; ++i) {
    targets.push_back(fmt::format("http://rival{}.example/", i));
  }
  LinkEachTo(targets);
  const Result result = Run({.new_pages = 3, .drop_over_quota = true});
  EXPECT_EQ(result.admitted.size(), 3u);
  EXPECT_TRUE(result.deferred.empty());
}

TEST_F(UpdateTest, DeferredUrlsThatCannotGetInTakeNoPlaces) {
  const int64_t one = storage::kSeedCash;
  waiting_ = {{"http://blocked.example/1", 9 * one},
              {"http://blocked.example/2", 9 * one},
              {"http://s0.example/1", 9 * one}};
  std::vector<std::string> targets;
  for (int i = 0; i < 6; ++i) {
    targets.push_back(fmt::format("http://good{}.example/", i));
  }
  LinkEachTo(targets);
  before_update_ = [](storage::CrawlDb& db) {
    ASSERT_TRUE(db.blocks().Block("blocked.example").ok());
  };
  const Result result =
      Run({.new_pages = 3, .drop_over_quota = true, .max_pages_per_host = 1});
  EXPECT_EQ(result.admitted.size(), 3u);
}

// 20,000 pages of 100 links each have as many targets as `targets_in_memory`.
TEST(TargetSumsTest, ATargetOfUsualLengthWeighsOneAndALongOneMore) {
  TargetSums sums{KeyRange{}};
  proto::OutlinkSegment segment;
  for (int i = 0; i < 100; ++i) {
    segment.add_targets(fmt::format("x{:0>120}", i));
  }
  sums.Add(segment);
  sums.Add(segment);
  EXPECT_EQ(sums.weight(), 100u);
  segment.Clear();
  segment.add_targets(std::string(2000, 'y'));
  sums.Add(segment);
  EXPECT_GE(sums.weight(), 115u);
}

}  // namespace
}  // namespace gannet::jobs
