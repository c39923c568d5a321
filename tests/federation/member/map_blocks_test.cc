// The map's block list, and a site's own.
#include "federation/member/map_blocks.h"

#include <gmock/gmock.h>

#include "tests/federation/member/test_own_site.h"

namespace gannet::federation {
namespace {

using testing::ElementsAre;

class MapBlocksTest : public testing::Test {
 protected:
  void Change(const std::function<absl::StatusOr<Map>(const Map&)>& change) {
    map_ = change(map_).value();
    blocks_.Apply(MapView::Create(map_, "paris").value());
  }
  void Block(const std::string& domain) {
    Change([&](const Map& map) { return federation::Block(map, domain); });
  }
  void Unblock(const std::string& domain) {
    Change([&](const Map& map) { return federation::Unblock(map, domain); });
  }
  std::vector<std::string> Blocked() {
    return site_.db->blocks().Blocked().value();
  }

  TestOwnSite site_{"paris"};
  MapBlocks blocks_{*site_.db, site_.note};
  Map map_ = FoundFederation(site_.own().AsApplicant(), 9, {}, true).value();
};

TEST_F(MapBlocksTest, TheSiteBlocksWhatTheMapBlocksUntilItDoesNot) {
  Block("a.example");
  Block("b.example");
  EXPECT_THAT(Blocked(), ElementsAre("a.example", "b.example"));
  Unblock("a.example");
  EXPECT_THAT(Blocked(), ElementsAre("b.example"));
  EXPECT_EQ(site_.noted["block_failed"], 0);
}

TEST_F(MapBlocksTest, WhatTheSiteBlocksByItselfIsNotTouched) {
  ASSERT_TRUE(site_.db->blocks().Block("own.example").ok());
  Block("a.example");
  Unblock("a.example");
  EXPECT_THAT(Blocked(), ElementsAre("own.example"));
}

TEST_F(MapBlocksTest, AnUnblockWhileTheSiteWasStoppedIsMadeUpFor) {
  Block("a.example");
  map_ = federation::Unblock(map_, "a.example").value();
  MapBlocks after_a_restart(*site_.db, site_.note);
  after_a_restart.Apply(MapView::Create(map_, "paris").value());
  EXPECT_THAT(Blocked(), testing::IsEmpty());
}

TEST_F(MapBlocksTest, AListIsAppliedOnceAndAgainOnlyIfThatFailed) {
  const auto apply_twice = [&](const std::string& domain) {
    map_.add_blocked(domain);
    const auto view = MapView::Create(map_, "paris").value();
    blocks_.Apply(view);
    ASSERT_TRUE(site_.db->blocks().Unblock(domain).ok());
    blocks_.Apply(view);
  };
  apply_twice("a.example");
  EXPECT_THAT(Blocked(), testing::IsEmpty());
  map_.clear_blocked();
  map_.add_blocked("Not.Canonical");
  apply_twice("b.example");
  EXPECT_THAT(Blocked(), ElementsAre("b.example"));
  EXPECT_EQ(site_.noted["block_failed"], 2);
}

}  // namespace
}  // namespace gannet::federation
