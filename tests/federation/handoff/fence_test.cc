#include "federation/handoff/fence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "federation/map/map_changes.h"
#include "federation/ownership/ownership.h"
#include "tests/federation/map/sample_maps.h"

namespace gannet::federation {
namespace {

constexpr storage::SiteId kTokyo{1}, kParis{2}, kOslo{3};

class FenceTest : public testing::Test {
 protected:
  FenceTest() {
    Map map = Founded();
    two_ = FinishHandOff(WithMember(map, "paris")).value();
    three_ = WithMember(two_, "oslo");  // Moving.
  }
  static std::string Host(int i) {
    const auto url = storage::Url::Parse(fmt::format("http://d{}.example/", i));
    return std::string(storage::HostPartOf(storage::PageKeyOf(*url).bytes));
  }
  // The filter of a site, if these peers have completed.
  static storage::HostFilter Of(const Map& map, const std::string& site,
                                std::set<storage::SiteId> completed) {
    const uint64_t epoch = PlacedStamp(map);
    return MayCrawl(MapView::Create(map, site).value(),
                    [=](const storage::Peer& peer) {
                      EXPECT_EQ(peer.incarnation, 7u);
                      return completed.contains(peer.site) ? epoch : epoch - 1;
                    });
  }

  Map two_, three_;
};

TEST_F(FenceTest, WithoutAHandOffEachCrawlsItsOwn) {
  const auto tokyo = Of(two_, "tokyo", {}), paris = Of(two_, "paris", {});
  int both = 0;
  for (int i = 0; i < 200; ++i) {
    EXPECT_NE(tokyo(Host(i)), paris(Host(i)));
    both += tokyo(Host(i)) ? 1 : 0;
  }
  EXPECT_GT(both, 50);
  EXPECT_LT(both, 150);
}

TEST_F(FenceTest, WhatMovedWaitsForTheSiteThatHadIt) {
  const auto view = MapView::Create(three_, "oslo").value();
  const auto none = Of(three_, "oslo", {}), one = Of(three_, "oslo", {kParis}),
             all = Of(three_, "oslo", {kTokyo, kParis});
  const auto tokyo = Of(three_, "tokyo", {});
  int moved = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string host = Host(i);
    EXPECT_FALSE(none(host));
    EXPECT_EQ(all(host), Ownership(*view).IsMine(host));
    EXPECT_EQ(one(host), Ownership(*view).IsMine(host) &&
                             Ownership(*view).PreviousOwnerOf(host) == kParis);
    moved += one(host) ? 1 : 0;
    // What stays is not held up, and what has moved is not crawled.
    EXPECT_EQ(tokyo(host), Ownership(*view).OwnerOf(host) == kTokyo);
  }
  EXPECT_GT(moved, 10);
}

TEST_F(FenceTest, InHasteAllMustHaveCompleted) {
  const Map hasty = Remove(three_, "paris").value();
  ASSERT_TRUE(hasty.in_haste());
  const auto view = MapView::Create(hasty, "tokyo").value();
  const auto none = Of(hasty, "tokyo", {}), all = Of(hasty, "tokyo", {kOslo});
  int held_up = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string host = Host(i);
    EXPECT_EQ(all(host), Ownership(*view).IsMine(host));
    // Its own of old go on.
    EXPECT_EQ(none(host), Ownership(*view).IsMine(host) &&
                              Ownership(*view).PreviousOwnerOf(host) == kTokyo);
    held_up += all(host) && !none(host) ? 1 : 0;
  }
  EXPECT_GT(held_up, 10);
}

TEST_F(FenceTest, WhatADeadSiteHadIsFreeAtOnce) {
  const Map removed = Remove(two_, "paris").value();
  ASSERT_FALSE(removed.in_haste());
  const auto tokyo = Of(removed, "tokyo", {});
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(tokyo(Host(i)));
}

TEST_F(FenceTest, WhoIsNotInTheMapMayCrawlNothing) {
  const auto paris = Of(Remove(two_, "paris").value(), "paris", {});
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(paris(Host(i)));
}

}  // namespace
}  // namespace gannet::federation
