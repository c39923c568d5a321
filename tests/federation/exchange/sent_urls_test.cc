#include "federation/exchange/sent_urls.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "federation/map/map_changes.h"
#include "tests/simulated_clock.h"
#include "tests/temporary_folder.h"

namespace gannet::federation {
namespace {

using storage::PageKey;
using storage::SiteId;

constexpr SiteId kParis{2}, kOslo{3};

Applicant From(const std::string& name, uint64_t incarnation = 7) {
  Applicant applicant;
  applicant.name = name;
  applicant.incarnation = incarnation;
  applicant.address = "127.0.0.1:7701";
  return applicant;
}

PageKey Page(int i) { return PageKey{fmt::format("xexample,a,)http/{}", i)}; }

class SentUrlsTest : public testing::Test {
 protected:
  SentUrlsTest() {
    storage::CrawlDbSettings settings;
    settings.folder = folder_.path();
    db_ = storage::CrawlDb::Open(settings).value();
    map_ = FoundFederation(From("tokyo"), 9, {}, true).value();
    for (const char* name : {"paris", "oslo"}) {
      map_ = Join(Invite(map_, name).value(), From(name)).value();
      map_ = FinishHandOff(map_).value();
    }
    Load();
  }
  void Load(size_t bytes = 1 << 16) {
    SentUrlsSettings settings;
    settings.bytes = bytes;
    settings.random = [this] { return ++random_; };
    sent_ = SentUrls::Load(settings, *db_, clock_, &lost_).value();
  }
  void Follow(const Map& map) {
    sent_->Follow(*MapView::Create(map, "tokyo").value());
  }
  int Known(SiteId site) {
    int known = 0;
    for (int i = 0; i < 1000; ++i) {
      known += sent_->cache().Contains(site, Page(i)) ? 1 : 0;
    }
    return known;
  }
  void RememberAll() {
    for (int i = 0; i < 1000; ++i) {
      sent_->cache().Remember(kParis, Page(i));
      sent_->cache().Remember(kOslo, Page(i));
    }
  }

  TemporaryFolder folder_;
  std::unique_ptr<storage::CrawlDb> db_;
  SimulatedClock clock_;
  uint64_t random_ = 1;
  absl::Status lost_;
  Map map_;
  std::unique_ptr<SentUrls> sent_;
};

TEST_F(SentUrlsTest, WhatWasSavedIsKnownAfterARestart) {
  Follow(map_);
  RememberAll();
  ASSERT_TRUE(sent_->Save().ok());
  Load();
  EXPECT_TRUE(lost_.ok());
  Follow(map_);
  EXPECT_EQ(Known(kParis), 1000);
  EXPECT_EQ(Known(kOslo), 1000);
}

TEST_F(SentUrlsTest, ANewLifeOfASiteWasSentNothing) {
  Follow(map_);
  RememberAll();
  ASSERT_TRUE(sent_->Save().ok());
  const Map reborn = Join(map_, From("paris", 8), 7).value();
  Follow(reborn);
  EXPECT_EQ(Known(kParis), 0);
  EXPECT_EQ(Known(kOslo), 1000);
  // As if the process was killed before that was saved: it forgets again.
  Load();
  EXPECT_EQ(Known(kParis), 1000);
  Follow(reborn);
  EXPECT_EQ(Known(kParis), 0);
  ASSERT_TRUE(sent_->Save().ok());
  Load();
  Follow(reborn);
  EXPECT_EQ(Known(kParis), 0);
}

TEST_F(SentUrlsTest, ASiteThatIsGoneIsForgottenAlsoIfItReturns) {
  Follow(map_);
  RememberAll();
  Follow(Remove(map_, "oslo").value());
  EXPECT_EQ(Known(kOslo), 0);
  Follow(map_);
  EXPECT_EQ(Known(kOslo), 0);
}

TEST_F(SentUrlsTest, EachDayASixteenthIsForgotten) {
  Follow(map_);
  RememberAll();
  ASSERT_TRUE(sent_->Save().ok());
  EXPECT_EQ(Known(kParis), 1000);
  for (int hours = 1; hours < 24; ++hours) {
    clock_.Advance(absl::Hours(1));
    ASSERT_TRUE(sent_->Save().ok());
    if (hours == 12) Load();  // A restart does not restart the day.
  }
  EXPECT_EQ(Known(kParis), 1000);
  clock_.Advance(absl::Hours(1));
  ASSERT_TRUE(sent_->Save().ok());
  EXPECT_NEAR(Known(kParis), 937, 40);
  ASSERT_TRUE(sent_->Save().ok());
  EXPECT_NEAR(Known(kParis), 937, 40);
  clock_.Jump(-absl::Hours(240));
  ASSERT_TRUE(sent_->Save().ok());
  EXPECT_NEAR(Known(kParis), 875, 40);
}

TEST_F(SentUrlsTest, SmallRoundsDoNotWriteItAgainAndAgain) {
  Follow(map_);
  ASSERT_TRUE(sent_->Save().ok());
  RememberAll();
  clock_.Advance(absl::Seconds(5));
  ASSERT_TRUE(sent_->Save().ok());
  Load();
  Follow(map_);
  EXPECT_EQ(Known(kParis), 0);  // They would be sent again: harmless.
  RememberAll();
  clock_.Advance(absl::Minutes(1));
  ASSERT_TRUE(sent_->Save().ok());
  Load();
  Follow(map_);
  EXPECT_EQ(Known(kParis), 1000);
  // At the end of the process, and when a site was forgotten, it is written at
  // once.
  sent_->cache().Clear(kParis);
  ASSERT_TRUE(sent_->Save(/*at_once=*/true).ok());
  Load();
  Follow(map_);
  EXPECT_EQ(Known(kParis), 0);
  Follow(Remove(map_, "oslo").value());
  ASSERT_TRUE(sent_->Save().ok());
  Load();
  EXPECT_EQ(Known(kOslo), 0);
}

TEST_F(SentUrlsTest, ADamagedOrOtherCacheIsAnEmptyOne) {
  Follow(map_);
  RememberAll();
  ASSERT_TRUE(sent_->Save().ok());
  Load(1 << 17);
  EXPECT_TRUE(absl::IsFailedPrecondition(lost_)) << lost_;
  EXPECT_EQ(Known(kParis), 0);
  ASSERT_TRUE(db_->records().PutNote("sent_urls", "\xff\xff nonsense").ok());
  Load();
  EXPECT_TRUE(absl::IsDataLoss(lost_)) << lost_;
  EXPECT_EQ(Known(kParis), 0);
}

}  // namespace
}  // namespace gannet::federation
