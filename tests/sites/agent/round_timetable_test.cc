// When rounds begin, with times that the test makes up.
#include "sites/agent/round_timetable.h"

#include <gtest/gtest.h>

namespace gannet::sites {
namespace {

// A half hour.
const absl::Time kNoon = absl::FromUnixSeconds(1'800'000'000);
const absl::Time kNever = absl::InfiniteFuture();
const absl::Status kBad = absl::InternalError("bad settings");
const absl::Status kFull = absl::ResourceExhaustedError("disk full");

absl::Time At(int minutes, int seconds = 0) {
  return kNoon + absl::Minutes(minutes) + absl::Seconds(seconds);
}

RoundTimetable By(const char* schedule) {
  return RoundTimetable(Schedule::Parse(schedule).value(), kNoon);
}

using Wish = RoundTimetable::Wish;

std::shared_ptr<Wish> Ask(RoundTimetable& table,
                          std::optional<int64_t> rounds = std::nullopt,
                          absl::Duration wait = absl::ZeroDuration()) {
  auto wish = std::make_shared<Wish>();
  wish->rounds_left = rounds;
  wish->wait = wait;
  EXPECT_TRUE(table.Ask(wish).ok());
  return wish;
}

void RunFrom(RoundTimetable& table, absl::Time began, absl::Time ended) {
  table.OnBegun(began);
  table.OnEnded(ended);
  table.OnOver(ended);
}

absl::Duration FailAt(RoundTimetable& table, absl::Time now,
                      const absl::Status& why, bool lacks_room = false) {
  table.OnBegun(now);
  const absl::Duration wait = table.OnFailed(now, why, lacks_room);
  table.OnOver(now);
  return wait;
}

bool FindNothingAt(RoundTimetable& table, absl::Time now,
                   std::optional<absl::Time> due = std::nullopt,
                   const absl::Status& may_begin = absl::OkStatus()) {
  table.OnBegun(now);
  const bool is_any_done = table.OnNothingToDo(now, due, may_begin);
  table.OnOver(now);
  return is_any_done;
}

// The example of the header.
TEST(RoundTimetableTest, ADayOfRounds) {
  RoundTimetable table = By("every 30m");
  RunFrom(table, At(0), At(10));
  EXPECT_EQ(table.NextStart(At(10)), At(30));
  table.OnBegun(At(30));
  EXPECT_EQ(table.OnFailed(At(31), kBad, /*lacks_room=*/false),
            absl::Minutes(1));
  table.OnOver(At(31));
  EXPECT_EQ(table.NextStart(At(31)), At(32));
  RunFrom(table, At(32), At(40));
  EXPECT_EQ(table.NextStart(At(40)), At(60));
  const auto wish = Ask(table, 3);
  EXPECT_LE(table.NextStart(At(50)), At(50));
  EXPECT_EQ(table.NextRound(At(50)), At(50));
  table.OnBegun(At(50));
  EXPECT_TRUE(table.Stop(At(55)));
  EXPECT_TRUE(table.is_stopping());
  table.OnStopped(At(55), absl::CancelledError("stopped while fetching"));
  EXPECT_EQ(wish->status.message(), "stopped while fetching");
  table.OnOver(At(55));
  EXPECT_FALSE(table.is_stopping());
  EXPECT_EQ(table.NextStart(At(55)), At(56));  // Though 13:00 is the next time.
}

TEST(RoundTimetableTest, TheLastRoundCountsFromBeforeTheStartButNotItsFuture) {
  RoundTimetable table = By("every 30m");
  table.Remember(At(-20), At(-15), /*is_open=*/false);
  EXPECT_EQ(table.NextStart(kNoon), At(0));
  table.Remember(At(0), At(1), /*is_open=*/false);
  EXPECT_EQ(table.last_end(), At(0));
  EXPECT_EQ(table.NextStart(At(10)), At(30));
  table.Remember(At(48 * 60), At(48 * 60), /*is_open=*/false);
  EXPECT_EQ(table.last_start(), At(0));
  EXPECT_EQ(table.NextStart(At(10)), At(30));
  table.Remember(At(0), At(1), /*is_open=*/true);
  EXPECT_EQ(table.NextStart(At(10)), At(10));  // It was left open.
}

TEST(RoundTimetableTest, ByHandNothingBeginsUntilSomebodyAsks) {
  RoundTimetable table = By("by-hand");
  table.Remember(At(-2), At(-1), /*is_open=*/true);
  EXPECT_EQ(table.NextStart(At(0)), kNever);
  EXPECT_EQ(table.NextRound(At(0)), std::nullopt);
  const auto wish = Ask(table, 2);
  EXPECT_LE(table.NextStart(At(0)), At(0));
  RunFrom(table, At(0), At(1));
  EXPECT_FALSE(wish->is_done);
  EXPECT_LE(table.NextStart(At(1)), At(1));
  RunFrom(table, At(1), At(2));
  EXPECT_TRUE(wish->is_done);
  EXPECT_TRUE(wish->status.ok());
  EXPECT_EQ(table.NextStart(At(2)), kNever);
  FailAt(table, At(3), kBad);
  EXPECT_EQ(table.NextStart(At(3)), kNever);
}

TEST(RoundTimetableTest, AFailureTellsWhoAskedAndIsTriedAgainEverMoreSeldom) {
  RoundTimetable table = By("continuous");
  const auto wish = Ask(table);
  for (const int minutes : {1, 2, 4, 8, 16, 30, 30}) {
    EXPECT_EQ(FailAt(table, At(0), kBad), absl::Minutes(minutes));
    EXPECT_EQ(table.NextStart(At(0)), At(minutes));
  }
  EXPECT_EQ(wish->status, kBad);
  FindNothingAt(table, At(30));  // It went well.
  EXPECT_EQ(FailAt(table, At(31), kBad), absl::Minutes(1));
  RunFrom(table, At(32), At(33));
  EXPECT_EQ(FailAt(table, At(34), kBad), absl::Minutes(1));
}

TEST(RoundTimetableTest, ARoundThatEndsBringsTheScheduleBack) {
  RoundTimetable table = By("every 30m");
  table.Remember(At(-31), At(-30), /*is_open=*/true);
  EXPECT_EQ(table.NextStart(At(0)), At(0));  // It was left open.
  FailAt(table, At(0), kFull, /*lacks_room=*/true);
  Ask(table, 1);
  RunFrom(table, At(0, 10), At(0, 20));
  EXPECT_FALSE(table.AwaitsRoom(At(0, 30)));
  EXPECT_EQ(table.NextStart(At(0, 20)), At(30));
  Ask(table, 1);
  RunFrom(table, At(1), At(2));
  table.SetSchedule(Schedule::Parse("continuous").value());
  EXPECT_EQ(table.NextStart(At(2)), At(2));
  FailAt(table, At(3), kBad);
  Ask(table, 1);
  RunFrom(table, At(3, 10), At(3, 20));
  EXPECT_EQ(table.NextStart(At(3, 20)), At(3, 20));
}

TEST(RoundTimetableTest, AnOpenRoundThatHasNothingLeftIsOver) {
  RoundTimetable table = By("every 30m");
  table.Remember(At(-31), At(-30), /*is_open=*/true);
  FindNothingAt(table, At(0));
  EXPECT_EQ(table.NextStart(At(0)), At(30));
}

TEST(RoundTimetableTest, AFullDiskIsWaitedForAndRoomThatComesIsLetSettle) {
  RoundTimetable table = By("continuous");
  EXPECT_FALSE(table.AwaitsRoom(At(0)));
  FailAt(table, At(0), kFull, /*lacks_room=*/true);
  EXPECT_EQ(table.NextStart(At(0)), At(1));
  EXPECT_FALSE(table.AwaitsRoom(At(0, 4)));
  EXPECT_TRUE(table.AwaitsRoom(At(0, 5)));
  table.OnRoom();
  EXPECT_LE(table.NextStart(At(0, 5)), At(0, 5));
  EXPECT_FALSE(table.AwaitsRoom(At(0, 6)));
  // Another failure is not about room.
  FailAt(table, At(1), kFull, /*lacks_room=*/true);
  FailAt(table, At(2), kBad);
  EXPECT_FALSE(table.AwaitsRoom(At(3)));
}

TEST(RoundTimetableTest, AFullDiskThatHasRoomIsTriedEverMoreSeldom) {
  RoundTimetable table = By("continuous");
  for (const int seconds : {5, 10, 20}) {
    EXPECT_EQ(FailAt(table, At(0), kFull), absl::Seconds(seconds));
  }
  FailAt(table, At(0), kFull, /*lacks_room=*/true);
  EXPECT_EQ(FailAt(table, At(0), kFull), absl::Seconds(5));
}

TEST(RoundTimetableTest, WhereNothingIsToDoItLooksAgainWhenSomethingIsDue) {
  RoundTimetable table = By("continuous");
  FindNothingAt(table, At(0));
  EXPECT_EQ(table.NextStart(At(0)), At(0, 2));
  EXPECT_EQ(table.NextRound(At(0)), std::nullopt);  // People are not told that.
  FindNothingAt(table, At(1), At(1, 1));
  EXPECT_EQ(table.NextStart(At(1)), At(1, 1));
  FindNothingAt(table, At(2), At(9));
  EXPECT_EQ(table.NextStart(At(2)), At(2, 2));
  EXPECT_EQ(table.NextRound(At(2)), At(9));
  // Due, but it could not be taken: no busy loop.
  FindNothingAt(table, At(9), At(9));
  EXPECT_EQ(table.NextStart(At(9)), At(9, 2));
  RunFrom(table, At(10), At(11));
  EXPECT_EQ(table.next_due(), std::nullopt);
  EXPECT_EQ(table.NextRound(At(11)), At(11));
  FindNothingAt(table, At(12));
  Ask(table, 1);  // Who asks does not wait for that.
  EXPECT_LE(table.NextStart(At(12)), At(12));
}

TEST(RoundTimetableTest, WishesEndWhereNothingIsDueWithinTheirWait) {
  RoundTimetable table = By("by-hand");
  const auto patient = Ask(table, std::nullopt, absl::Minutes(6));
  EXPECT_FALSE(FindNothingAt(table, At(0), At(5)));
  const auto hasty = Ask(table, std::nullopt, absl::Minutes(4));
  EXPECT_TRUE(FindNothingAt(table, At(0), At(5)));
  EXPECT_TRUE(hasty->is_done);
  EXPECT_TRUE(hasty->status.ok());
  EXPECT_FALSE(patient->is_done);
  EXPECT_EQ(table.NextRound(At(0)), At(5));
  EXPECT_TRUE(FindNothingAt(table, At(5)));  // Nothing is due any more.
  EXPECT_TRUE(patient->is_done);
  EXPECT_EQ(table.NextStart(At(5)), kNever);
}

TEST(RoundTimetableTest, WhoAsksForRoundsThatMayNotBeginIsToldWhy) {
  RoundTimetable table = By("continuous");
  const auto wish = Ask(table, 1, absl::Hours(1));
  const absl::Status paused = absl::FailedPreconditionError("paused by all");
  EXPECT_FALSE(FindNothingAt(table, At(0), At(1), paused));
  EXPECT_EQ(wish->status, paused);
  // For the schedule it is no failure.
  EXPECT_EQ(table.NextStart(At(0)), At(0, 2));
}

TEST(RoundTimetableTest, APauseHoldsBackTheScheduleButNotWhoAsks) {
  RoundTimetable table = By("continuous");
  EXPECT_TRUE(table.Pause());
  EXPECT_FALSE(table.Pause());
  EXPECT_EQ(table.NextStart(At(0)), kNever);
  const auto wish = Ask(table, 2);
  EXPECT_LE(table.NextStart(At(0)), At(0));
  table.Unwatch(*wish);
  EXPECT_EQ(table.NextStart(At(0)), kNever);
  EXPECT_TRUE(table.Resume());
  EXPECT_FALSE(table.Resume());
  EXPECT_EQ(table.NextStart(At(0)), At(0));
}

TEST(RoundTimetableTest, APauseDropsWhatNobodyWaitsForAnyMore) {
  RoundTimetable table = By("by-hand");
  const auto left = Ask(table);
  table.Unwatch(*left);
  EXPECT_TRUE(table.has_wishes());  // They go on if the caller leaves.
  const auto watched = Ask(table, 1);
  table.Pause();
  RunFrom(table, At(0), At(1));
  EXPECT_TRUE(watched->is_done);
  EXPECT_FALSE(table.has_wishes());
}

TEST(RoundTimetableTest, ResumeBypassesTheWaitAfterAStopOrAFailure) {
  RoundTimetable table = By("continuous");
  FailAt(table, At(0), kBad);
  table.Resume();
  EXPECT_LE(table.NextStart(At(0)), At(0));
}

TEST(RoundTimetableTest, AStopCountsThoughTheRoundEndedBeforeItSawIt) {
  RoundTimetable table = By("continuous");
  const auto wish = Ask(table, 5);
  table.OnBegun(At(0));
  EXPECT_TRUE(table.Stop(At(1)));
  table.OnEnded(At(1));
  EXPECT_FALSE(wish->is_done);
  table.OnOver(At(1));
  EXPECT_TRUE(absl::IsCancelled(wish->status));
  EXPECT_EQ(table.NextStart(At(1)), At(2));
}

TEST(RoundTimetableTest, AStopBetweenRoundsHoldsBackTheSchedule) {
  RoundTimetable table = By("continuous");
  const auto wish = Ask(table);
  EXPECT_FALSE(table.Stop(At(0)));
  EXPECT_TRUE(absl::IsCancelled(wish->status));
  EXPECT_EQ(table.NextStart(At(0)), At(1));
  FailAt(table, At(1), kBad);
  FailAt(table, At(1), kBad);
  table.Stop(At(1));
  EXPECT_EQ(table.NextStart(At(1)), At(3));  // A longer wait stays.
}

TEST(RoundTimetableTest, AtTheEndNobodyMayAskAndWhoWaitsIsToldByTheAgent) {
  RoundTimetable table = By("continuous");
  const auto wish = Ask(table);
  table.OnBegun(At(0));
  EXPECT_TRUE(table.Stop(At(0)));
  table.End();
  EXPECT_FALSE(table.is_stopping());  // Who waits for the stop need not.
  EXPECT_FALSE(table.Stop(At(0)));
  table.OnStopped(At(0), absl::CancelledError("stopped while fetching"));
  table.OnOver(At(0));
  EXPECT_FALSE(wish->is_done);
  table.EndWishes(absl::UnavailableError("the agent is stopping"));
  EXPECT_TRUE(absl::IsUnavailable(wish->status));
  EXPECT_TRUE(absl::IsUnavailable(table.Ask(std::make_shared<Wish>())));
}

TEST(RoundTimetableTest, TooManyWishesAreRefused) {
  RoundTimetable table = By("by-hand");
  for (int i = 0; i < 100; ++i) Ask(table);
  EXPECT_TRUE(absl::IsAborted(table.Ask(std::make_shared<Wish>())));
}

TEST(RoundTimetableTest, AClockThatIsSetBackTakesTheWaitsWithIt) {
  RoundTimetable table = By("continuous, pause 10m");
  RunFrom(table, At(0), At(1));
  EXPECT_EQ(table.NextStart(At(3)), At(11));
  table.See(At(3));
  table.See(At(3 - 120));
  EXPECT_EQ(table.NextStart(At(3 - 120)), At(11 - 120));
  EXPECT_EQ(table.last_start(), At(-120));
  FailAt(table, At(3 - 120), kBad);
  table.See(At(3 - 240));
  EXPECT_EQ(table.NextStart(At(3 - 240)), At(4 - 240));
  FindNothingAt(table, At(20));
  table.See(At(20 - 120));
  EXPECT_EQ(table.NextStart(At(20 - 120)), At(20 - 120, 2));
  // Forward, a wait is over sooner.
  EXPECT_LE(table.NextStart(At(60)), At(60));
}

}  // namespace
}  // namespace gannet::sites
