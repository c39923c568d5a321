// update against a slow, obvious model: sum, sort, take the best.
#include "jobs/update/update.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

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
    EXPECT_TRUE(db->Inject(seeds_, kNow).ok());
    EXPECT_TRUE(db->OpenRound(kNow).ok());
    EXPECT_TRUE(db->Claim(db->Top(100, 100).value()).ok());
    EXPECT_TRUE(db->PayRoot().ok());
    EXPECT_TRUE(db->SetPhase(proto::FETCH).ok());
    for (int i = 0; i < kSeeds; ++i) {
      storage::Completion done;
      done.page = seeds_[i];
      done.outcome.set_state(proto::FETCHED);
      done.outcome.set_finished_reason("fetched");
      done.keeps_history = true;
      done.outlinks = links_[i];
      EXPECT_TRUE(db->Complete({done}, {}, {}).ok());
    }
    EXPECT_TRUE(db->SetPhase(proto::UPDATE).ok());
    std::atomic<bool> stop = false;
    UpdateView view;
    const absl::Status updated = Update(*db, settings, kNow, stop, view);
    EXPECT_TRUE(updated.ok()) << updated;
    Result result;
    const std::set<storage::PageKey> seeds(seeds_.begin(), seeds_.end());
    EXPECT_TRUE(
        db->ScanPages({}, [&](std::string_view page, const proto::PageRecord&) {
            if (!seeds.contains(storage::PageKey{std::string(page)})) {
              result.admitted.insert(std::string(page));
            }
            return true;
          }).ok());
    const auto deferred = db->TopDeferred(100'000);
    EXPECT_TRUE(deferred.ok());
    for (const storage::Found& url : *deferred) {
      result.deferred[url.page.bytes] = url.cash;
    }
    result.dropped = db->totals().dropped;
    EXPECT_TRUE(db->CloseRound("{}").ok());
    const auto checks = db->Verify(/*full=*/true);
    EXPECT_TRUE(checks.ok()) << checks.status();
    if (checks.ok()) {
      for (const storage::Check& check : *checks) {
        EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
      }
    }
    return result;
  }

  // What the best `count` bring, most first.
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

  std::vector<storage::PageKey> seeds_;
  std::vector<std::vector<storage::PageKey>> links_;
  // The model: what each target that is new gets.
  std::map<std::string, int64_t> sums_;
};

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
  EXPECT_LE(result.admitted.size(), 60u);
  EXPECT_TRUE(result.deferred.empty());
  int64_t lost = 0;
  for (const auto& [page, cash] : sums_) {
    if (!result.admitted.contains(page)) lost += cash;
  }
  EXPECT_EQ(result.dropped.at("over_quota"), lost);
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

}  // namespace
}  // namespace gannet::jobs
