// When is a federation quiet?
#include "federation/member/quiet_watch.h"

#include <gtest/gtest.h>

#include "federation/map/map_changes.h"
#include "tests/simulated_clock.h"

namespace gannet::federation {
namespace {

Map TwoSites() {
  Applicant tokyo;
  tokyo.name = "tokyo";
  tokyo.incarnation = 1;
  tokyo.address = "127.0.0.1:7701";
  Map map = FoundFederation(tokyo, 7, {}, true).value();
  Applicant paris = tokyo;
  paris.name = "paris";
  paris.incarnation = 2;
  map = Join(Invite(map, "paris").value(), paris).value();
  return FinishHandOff(map).value();
}

// Both idle, with so many batches sent and received between them.
Conditions Idle(uint64_t sent = 3, uint64_t received = 3) {
  Conditions all;
  all[1].set_is_idle(true);
  all[2].set_is_idle(true);
  auto& there = *all[1].add_pairs();
  there.set_site(2);
  there.set_sent(sent);
  auto& back = *all[2].add_pairs();
  back.set_site(1);
  back.set_received(received);
  return all;
}

TEST(IsQuietTest, TwoEqualLooksAtIdleSitesAreQuiet) {
  EXPECT_TRUE(IsQuiet(TwoSites(), Idle(), Idle()));
}

TEST(IsQuietTest, OneLookIsNotEnough) {
  EXPECT_FALSE(IsQuiet(TwoSites(), {}, Idle()));
}

TEST(IsQuietTest, ABatchUnderWayIsNotQuiet) {
  EXPECT_FALSE(IsQuiet(TwoSites(), Idle(4, 3), Idle(4, 3)));
}

TEST(IsQuietTest, WhatHappenedBetweenTheLooksIsNotQuiet) {
  EXPECT_FALSE(IsQuiet(TwoSites(), Idle(3, 3), Idle(4, 4)));
}

TEST(IsQuietTest, ASiteThatWorksOrDoesNotAnswerIsNotQuiet) {
  Conditions works = Idle();
  works[2].set_is_idle(false);
  EXPECT_FALSE(IsQuiet(TwoSites(), Idle(), works));
  Conditions waits = Idle();
  waits[1].set_outbox_urls(1);
  EXPECT_FALSE(IsQuiet(TwoSites(), Idle(), waits));
  Conditions silent = Idle();
  silent.erase(2);
  EXPECT_FALSE(IsQuiet(TwoSites(), Idle(), silent));
}

TEST(IsQuietTest, WhilePagesMoveItIsNotQuiet) {
  const Map moving = Switch(TwoSites(), {.virtual_nodes = 100}).value();
  EXPECT_FALSE(IsQuiet(moving, Idle(), Idle()));
  Conditions done = Idle();
  for (auto& [site, condition] : done) {
    condition.set_handed_off(PlacedStamp(moving));
  }
  EXPECT_TRUE(IsQuiet(moving, done, done));
  done[1].set_pages_to_hand_off(1);
  EXPECT_FALSE(IsQuiet(moving, done, done));
}

// tokyo watches, by what paris' beats bring.
class QuietWatchTest : public testing::Test {
 protected:
  // The watch looks after some time, in which paris has answered or not.
  bool IsQuietAfter(absl::Duration time, bool has_answered = true) {
    clock_.Advance(time);
    if (has_answered) paris_.condition_asked = clock_.SteadyNow();
    clock_.Advance(absl::Milliseconds(1));
    watch_.Update(view_, {{2, paris_}});
    return watch_.IsQuiet(view_);
  }
  static NeighbourSnapshot ParisIsIdle() {
    NeighbourSnapshot paris;
    paris.is_alive = true;
    paris.epoch = TwoSites().epoch();
    paris.condition = Idle().at(2);
    return paris;
  }

  SimulatedClock clock_;
  std::shared_ptr<const MapView> view_ =
      MapView::Create(TwoSites(), "tokyo").value();
  NeighbourSnapshot paris_ = ParisIsIdle();
  peers::Condition tokyo_ = Idle().at(1);
  QuietWatch watch_{[this] { return tokyo_; }, clock_};
};

TEST_F(QuietWatchTest, ItIsQuietAfterTwoLooksOfWhichTheSecondBeganLater) {
  EXPECT_FALSE(IsQuietAfter(absl::Seconds(1)));
  EXPECT_FALSE(IsQuietAfter(absl::Seconds(1), /*has_answered=*/false));
  EXPECT_TRUE(IsQuietAfter(absl::Seconds(1)));
  // It stays so while nobody has said anything new.
  EXPECT_TRUE(IsQuietAfter(absl::Seconds(1), /*has_answered=*/false));
}

TEST_F(QuietWatchTest, WorkAnywhereEndsIt) {
  IsQuietAfter(absl::Seconds(1));
  ASSERT_TRUE(IsQuietAfter(absl::Seconds(1)));
  tokyo_.set_is_idle(false);
  EXPECT_FALSE(IsQuietAfter(absl::Seconds(1)));
  tokyo_.set_is_idle(true);
  EXPECT_FALSE(IsQuietAfter(absl::Seconds(1)));
  EXPECT_TRUE(IsQuietAfter(absl::Seconds(1)));
  paris_.condition->set_outbox_urls(1);
  EXPECT_FALSE(IsQuietAfter(absl::Seconds(1)));
}

TEST_F(QuietWatchTest, ASiteThatIsAwayEndsItAtOnce) {
  IsQuietAfter(absl::Seconds(1));
  ASSERT_TRUE(IsQuietAfter(absl::Seconds(1)));
  paris_.is_alive = false;
  EXPECT_FALSE(IsQuietAfter(absl::Seconds(1), /*has_answered=*/false));
}

TEST_F(QuietWatchTest, BeforeAllHaveTheNewMapItIsNotQuiet) {
  IsQuietAfter(absl::Seconds(1));
  ASSERT_TRUE(IsQuietAfter(absl::Seconds(1)));
  view_ = MapView::Create(Pause(TwoSites(), true).value(), "tokyo").value();
  EXPECT_FALSE(watch_.IsQuiet(view_));
  EXPECT_FALSE(IsQuietAfter(absl::Seconds(1)));
  paris_.epoch = view_->map().epoch();
  IsQuietAfter(absl::Seconds(1));
  EXPECT_TRUE(IsQuietAfter(absl::Seconds(1)));
}

}  // namespace
}  // namespace gannet::federation
