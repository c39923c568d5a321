// Steps through the states of a hand-off. No DB: the test says what a scan
// found, what a cut left, and what the round journal says.
#include "federation/handoff/hand_off_plan.h"

#include <gtest/gtest.h>

#include <functional>

namespace gannet::federation {
namespace {

using storage::SiteId;
using Action = HandOffPlan::Action;

constexpr SiteId kParis{2}, kOslo{3};

class HandOffPlanTest : public testing::Test {
 protected:
  // The map came after round 6: rounds up to 7 may go by the older one.
  HandOffPlanTest() { plan_.OnNewMap(6); }

  Action Next() const { return plan_.Next(facts_); }
  Action NextIfNoneTakes() const { return plan_.NextIfNoneTakes(facts_); }
  // As far as the first scan.
  void BeginWalk() {
    if (Next() == Action::kBeginPass) {
      plan_.OnPassBegun(facts_);
      ASSERT_EQ(Next(), Action::kSortOutboxes);
      plan_.OnOutboxesSorted();
      ASSERT_EQ(Next(), Action::kSweepDeferred);
      plan_.OnDeferredSwept();
    }
    ASSERT_EQ(Next(), Action::kBeginWalk);
    plan_.OnWalkBegun(facts_.round);
    ASSERT_EQ(Next(), Action::kScan);
  }
  // A pass that finds nothing, with everybody told.
  void Finish() {
    BeginWalk();
    plan_.OnScanned({}, /*at_end=*/true);
    ASSERT_EQ(Next(), Action::kTellComplete);
    plan_.OnComplete();
  }

  HandOffPlan plan_;
  HandOffPlan::Facts facts_{.round = {.number = 6}};
};

TEST_F(HandOffPlanTest, WhereNothingIsAnothersOneWalkIsEnough) {
  EXPECT_FALSE(plan_.is_done());
  BeginWalk();
  plan_.OnScanned({}, /*at_end=*/false);
  EXPECT_EQ(Next(), Action::kScan);
  plan_.OnScanned({}, /*at_end=*/true);
  EXPECT_EQ(Next(), Action::kTellComplete);
  EXPECT_FALSE(plan_.is_done());
  plan_.OnComplete();
  EXPECT_EQ(Next(), Action::kNothing);
  EXPECT_TRUE(plan_.is_done());
}

TEST_F(HandOffPlanTest, WhatAScanFoundIsCutBeforeTheNextScan) {
  BeginWalk();
  plan_.OnScanned({kParis, kOslo}, /*at_end=*/false);
  EXPECT_EQ(Next(), Action::kCut);
  plan_.OnCut(kOslo, 0, /*has_more=*/true);
  EXPECT_EQ(plan_.left(), (std::set<SiteId>{kParis, kOslo}));
  EXPECT_EQ(Next(), Action::kCut);
  plan_.OnCut(kOslo, 0, /*has_more=*/false);
  EXPECT_EQ(plan_.left(), std::set<SiteId>{kParis});
  EXPECT_EQ(Next(), Action::kCut);
  plan_.OnCut(kParis, 0, /*has_more=*/false);
  EXPECT_EQ(Next(), Action::kScan);
}

TEST_F(HandOffPlanTest, AWalkThatFoundPagesIsFollowedByAnother) {
  BeginWalk();
  plan_.OnScanned({kOslo}, /*at_end=*/true);
  plan_.OnCut(kOslo, 0, /*has_more=*/false);
  BeginWalk();
  EXPECT_TRUE(plan_.left().empty());
  plan_.OnScanned({}, /*at_end=*/true);
  EXPECT_EQ(Next(), Action::kTellComplete);
}

// The example of the header.
TEST_F(HandOffPlanTest, PagesOfTheOpenRoundMoveWhenItIsOver) {
  plan_.OnNewMap(7);
  facts_.round = {.number = 7, .is_open = true};
  BeginWalk();
  plan_.OnScanned({kOslo}, /*at_end=*/true);
  plan_.OnCut(kOslo, /*in_round=*/1, /*has_more=*/false);
  EXPECT_EQ(Next(), Action::kWaitForRound);
  facts_.round.is_open = false;
  EXPECT_EQ(Next(), Action::kBeginWalk);
  BeginWalk();
  plan_.OnScanned({kOslo}, /*at_end=*/true);
  plan_.OnCut(kOslo, 0, /*has_more=*/false);
  BeginWalk();
  plan_.OnScanned({}, /*at_end=*/true);
  EXPECT_EQ(Next(), Action::kBeginPass);  // For what its update found.
  Finish();
  EXPECT_EQ(Next(), Action::kNothing);
  facts_.round = {.number = 8, .is_open = true};
  EXPECT_EQ(Next(), Action::kNothing);
  facts_.round.is_open = false;
  EXPECT_EQ(Next(), Action::kBeginPass);
  Finish();
  // No later round goes by the older map.
  facts_.round = {.number = 9, .is_open = true};
  EXPECT_EQ(Next(), Action::kNothing);
  facts_.round.is_open = false;
  EXPECT_EQ(Next(), Action::kNothing);
}

TEST_F(HandOffPlanTest, ARoundThatHasNoneOfThePagesIsNotWaitedFor) {
  facts_.round = {.number = 8, .is_open = true};
  BeginWalk();
  plan_.OnScanned({kOslo}, /*at_end=*/true);
  plan_.OnCut(kOslo, /*in_round=*/1, /*has_more=*/false);
  EXPECT_EQ(Next(), Action::kWaitForRound);
  facts_.round = {.number = 9, .is_open = true};
  BeginWalk();
  plan_.OnScanned({kOslo}, /*at_end=*/true);
  plan_.OnCut(kOslo, 0, /*has_more=*/false);
  EXPECT_EQ(Next(), Action::kBeginWalk);
}

TEST_F(HandOffPlanTest, AWalkInARoundOfTheOlderMapIsNotTheLast) {
  facts_.round = {.number = 6, .is_open = true};
  BeginWalk();
  plan_.OnScanned({}, /*at_end=*/true);
  EXPECT_EQ(Next(), Action::kWaitForRound);
  facts_.round = {.number = 7, .is_open = true};  // The next one has begun.
  BeginWalk();
  plan_.OnScanned({}, /*at_end=*/true);
  EXPECT_EQ(Next(), Action::kBeginPass);  // For what the update of 6 found.
}

// A round that took its map a moment ago may go by the older one; but
// "complete" does not wait for it.
TEST_F(HandOffPlanTest, TheRoundAfterTheMapIsLookedAfterOnceItIsOver) {
  facts_.round = {.number = 7, .is_open = true};
  Finish();
  EXPECT_EQ(Next(), Action::kNothing);
  facts_.round.is_open = false;
  EXPECT_EQ(Next(), Action::kBeginPass);
}

TEST_F(HandOffPlanTest, WhoTakesNothingDoesNotKeepLaterHostsFromBeingLookedAt) {
  BeginWalk();
  plan_.OnScanned({kOslo}, /*at_end=*/false);
  EXPECT_EQ(NextIfNoneTakes(), Action::kScan);
  plan_.OnScanned({kParis}, /*at_end=*/true);
  plan_.OnCut(kParis, 0, /*has_more=*/false);
  EXPECT_EQ(Next(), Action::kCut);                   // Oslo is tried again.
  EXPECT_EQ(NextIfNoneTakes(), Action::kBeginWalk);  // Has Paris everything?
  plan_.OnWalkBegun(facts_.round);
  plan_.OnScanned({kOslo}, /*at_end=*/true);
  EXPECT_EQ(NextIfNoneTakes(), Action::kTellComplete);
  EXPECT_EQ(plan_.left(), std::set<SiteId>{kOslo});
  EXPECT_EQ(Next(), Action::kCut);
}

TEST_F(HandOffPlanTest, WithSitesThatTakeNothingTheRoundsPagesAreWaitedFor) {
  facts_.round = {.number = 9, .is_open = true};
  BeginWalk();
  plan_.OnScanned({kParis, kOslo}, /*at_end=*/true);
  plan_.OnCut(kParis, /*in_round=*/2, /*has_more=*/false);
  EXPECT_EQ(NextIfNoneTakes(), Action::kWaitForRound);
  facts_.round.is_open = false;
  EXPECT_EQ(NextIfNoneTakes(), Action::kBeginWalk);
}

TEST_F(HandOffPlanTest, NorIsAnybodyToldCompleteInARoundOfTheOlderMap) {
  facts_.round = {.number = 6, .is_open = true};
  BeginWalk();
  plan_.OnScanned({kOslo}, /*at_end=*/true);
  EXPECT_EQ(NextIfNoneTakes(), Action::kWaitForRound);
  facts_.round.is_open = false;
  EXPECT_EQ(NextIfNoneTakes(), Action::kBeginPass);
}

TEST_F(HandOffPlanTest, ReasonsForAnotherPassCountWhereverNothingElseIsToDo) {
  const HandOffPlan::Facts quiet = facts_;
  const std::function<void()> reasons[] = {
      [this] { facts_.is_walk_due = true; },
      [this] { facts_.has_stray_outbox = true; },
      [this] { ++facts_.taken_back; },
      [this] { facts_.round = {.number = 7, .is_open = false}; },
      [this] { facts_.round = {.number = 8, .is_open = true}; }};
  for (size_t i = 0; i < std::size(reasons); ++i) {
    SCOPED_TRACE(i);
    plan_ = HandOffPlan();
    plan_.OnNewMap(6);
    facts_ = quiet;
    BeginWalk();
    reasons[i]();
    EXPECT_EQ(Next(), Action::kScan);
    plan_.OnScanned({kOslo}, /*at_end=*/true);
    EXPECT_EQ(Next(), Action::kCut);
    EXPECT_EQ(NextIfNoneTakes(), Action::kBeginPass);
    facts_ = quiet;
    plan_.OnCut(kOslo, 0, /*has_more=*/false);
    BeginWalk();
    plan_.OnScanned({}, /*at_end=*/true);
    reasons[i]();
    EXPECT_EQ(Next(), Action::kBeginPass);
    facts_ = quiet;
    EXPECT_EQ(Next(), Action::kTellComplete);
    plan_.OnComplete();
    EXPECT_EQ(Next(), Action::kNothing);
    reasons[i]();
    EXPECT_EQ(Next(), Action::kBeginPass);
    EXPECT_EQ(plan_.HavePagesComeBack(facts_.taken_back),
              facts_.taken_back != quiet.taken_back);
  }
}

TEST_F(HandOffPlanTest, ANewMapBeginsAnewWhereverItWas) {
  BeginWalk();
  plan_.OnScanned({kOslo}, /*at_end=*/true);
  plan_.OnNewMap(6);
  EXPECT_EQ(Next(), Action::kBeginPass);
  Finish();
  plan_.OnNewMap(6);
  EXPECT_FALSE(plan_.is_done());
  Finish();
  EXPECT_TRUE(plan_.is_done());
}

}  // namespace
}  // namespace gannet::federation
