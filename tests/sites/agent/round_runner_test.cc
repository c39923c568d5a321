// The runner with scripted rounds and a clock that the test moves: its thread,
// and what people are told. When rounds begin is round_timetable_test.cc's.
#include "sites/agent/round_runner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <latch>
#include <thread>

#include "tests/simulated_clock.h"
#include "tests/sites/agent/scripted_rounds.h"
#include "tests/temporary_folder.h"

namespace gannet::sites {
namespace {

class RoundRunnerTest : public testing::Test {
 protected:
  ~RoundRunnerTest() override { runner_.reset(); }

  // With no `progress_every`, callers do not wait.
  void Start(const char* schedule, absl::Duration progress_every = {}) {
    settings_.data_folder = folder_.path();
    settings_.schedule = Schedule::Parse(schedule).value();
    settings_.progress_every = progress_every;
    runner_ = std::make_unique<RoundRunner>(settings_, rounds_, log_, clock_);
    runner_->Start();
  }

  void Pass(absl::Duration time) { clock_.Advance(time); }
  // Until the thread has nothing to do at this time.
  void Settle() { clock_.Settle(1); }
  static absl::StatusOr<bool> FindsTheDiskFull(const std::atomic<bool>&) {
    return absl::ResourceExhaustedError("disk full");
  }
  void Await(const std::function<bool()>& condition) {
    const absl::Time give_up = absl::Now() + absl::Seconds(20);
    while (!condition()) {
      ASSERT_LT(absl::Now(), give_up);
      std::this_thread::yield();
    }
  }

  struct Answer {
    absl::Status status;
    admin::RunProgress last;
  };
  Answer Run(std::optional<int64_t> rounds, absl::Duration wait = {}) {
    admin::RunRoundsRequest request;
    if (rounds.has_value()) request.set_rounds(*rounds);
    request.mutable_wait()->set_seconds(absl::ToInt64Seconds(wait));
    Answer answer;
    answer.status =
        runner_->RunRounds(request, [&](const admin::RunProgress& look) {
          answer.last = look;
          ++messages_;
          std::this_thread::yield();
          return true;
        });
    return answer;
  }
  admin::RoundsState State() { return runner_->Status().rounds(); }

  std::atomic<int> messages_ = 0;  // That Run() heard; the first says it waits.
  TemporaryFolder folder_;
  SimulatedClock clock_{absl::FromUnixSeconds(1'800'000'000)};  // A half hour.
  ScriptedRounds rounds_;
  Log log_{
      {.level = LogLevel::kError}, open("/dev/null", O_WRONLY), false, clock_};
  RoundRunnerSettings settings_;
  std::unique_ptr<RoundRunner> runner_;
};

TEST_F(RoundRunnerTest, EveryHalfHourBeginsOneRoundHoweverManyTimesWereMissed) {
  rounds_.always = ScriptedRounds::Ends;
  Start("every 30m");
  Settle();
  EXPECT_EQ(rounds_.ended, 1);  // The first: there was none before.
  Pass(absl::Minutes(29));
  Settle();
  EXPECT_EQ(rounds_.ended, 1);
  Pass(absl::Minutes(1));
  Settle();
  EXPECT_EQ(rounds_.ended, 2);
  Pass(absl::Hours(5));
  Settle();
  EXPECT_EQ(rounds_.ended, 3);
}

TEST_F(RoundRunnerTest, ARestartBetweenTwoTimesBeginsNothing) {
  rounds_.always = ScriptedRounds::Ends;
  rounds_.last.started = clock_.Now();
  rounds_.last.ended = rounds_.last.started + absl::Minutes(1);
  Pass(absl::Minutes(10));
  Start("every 30m");
  Settle();
  EXPECT_EQ(rounds_.looks, 0);
  EXPECT_EQ(State().state(), "waiting");
  EXPECT_EQ(State().next_round().seconds(), 1'800'001'800);
}

TEST_F(RoundRunnerTest, ARoundThatWasLeftOpenGoesOnAtOnce) {
  rounds_.last.started = clock_.Now();
  rounds_.last.ended = rounds_.last.started;
  rounds_.is_open = true;
  rounds_.always = ScriptedRounds::Ends;
  Start("every 30m");
  Settle();
  EXPECT_EQ(rounds_.ended, 1);
}

TEST_F(RoundRunnerTest, RoundsNeverOverlapWhoeverAsks) {
  rounds_.always = [](const std::atomic<bool>&) {
    for (int i = 0; i < 20; ++i) std::this_thread::yield();
    return true;
  };
  Start("continuous");
  std::vector<std::thread> callers;
  for (int i = 0; i < 20; ++i) {
    callers.emplace_back([&] { EXPECT_TRUE(Run(5).status.ok()); });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(rounds_.most_at_once, 1);
}

TEST_F(RoundRunnerTest, WhereNothingIsToDoItLooksAgainInSecondsNotInALoop) {
  Start("continuous");
  Settle();
  EXPECT_EQ(rounds_.looks, 1);
  Pass(absl::Seconds(1));
  Settle();
  EXPECT_EQ(rounds_.looks, 1);
  rounds_.Add(ScriptedRounds::Ends);  // Somebody injected something.
  Pass(absl::Seconds(1));
  Settle();
  EXPECT_EQ(rounds_.ended, 1);
}

TEST_F(RoundRunnerTest, ARoundThatFoundTheDiskFullGoesOnSoonAfterThereIsRoom) {
  rounds_.has_room = false;
  rounds_.Add(FindsTheDiskFull);
  Start("continuous");
  Settle();
  EXPECT_EQ(rounds_.looks, 1);
  Pass(absl::Seconds(30));
  Settle();
  EXPECT_EQ(rounds_.looks, 1);  // Nobody tries it while there is none.
  rounds_.has_room = true;
  Settle();
  EXPECT_GE(rounds_.looks, 2);
  EXPECT_EQ(State().last_error(), "");
}

TEST_F(RoundRunnerTest, RoundsThatMakeNoProgressAreAFailure) {
  rounds_.always = ScriptedRounds::Ends;
  rounds_.is_fruitless = true;
  Start("continuous");
  Settle();
  EXPECT_EQ(rounds_.looks, 1);
  EXPECT_EQ(State().last_error(), "fruitless");
  EXPECT_EQ(runner_->Status().rounds_by_result().at("failed"), 1);
}

TEST_F(RoundRunnerTest, TheRoundThatRunsIsTheFirstOfThoseAskedFor) {
  std::latch go(1);
  std::atomic<bool> runs = false;
  rounds_.Add([&](const std::atomic<bool>&) {
    runs = true;
    go.wait();
    return true;
  });
  rounds_.always = ScriptedRounds::Ends;
  Start("every 30m", absl::Milliseconds(500));
  Await([&] { return runs.load(); });
  Answer answer;
  std::thread caller([&] { answer = Run(2); });
  clock_.AwaitWaiters(1);  // The caller, which only a signal wakes.
  go.count_down();
  caller.join();
  EXPECT_TRUE(answer.status.ok());
  EXPECT_EQ(answer.last.summary().rounds(), 2);
  EXPECT_EQ(answer.last.summary().outcomes().fetched(), 20);
  Settle();
  EXPECT_EQ(rounds_.ended, 2);
}

TEST_F(RoundRunnerTest, WithoutANumberItEndsWhenNothingIsLeft) {
  for (int i = 0; i < 3; ++i) rounds_.Add(ScriptedRounds::Ends);
  Start("by-hand");
  const Answer answer = Run(std::nullopt);
  EXPECT_TRUE(answer.status.ok());
  EXPECT_EQ(answer.last.summary().rounds(), 3);
  Await([&] { return rounds_.nothing_left == 1; });
}

TEST_F(RoundRunnerTest, WhoAsksForRoundsThatMayNotBeginIsToldWhy) {
  rounds_.may_begin = false;
  Start("by-hand");
  const Answer answer = Run(1);
  EXPECT_TRUE(absl::IsFailedPrecondition(answer.status)) << answer.status;
  EXPECT_EQ(answer.status.message(), "paused by all");
  EXPECT_EQ(rounds_.nothing_left, 0);
  // For the schedule it is no failure.
  EXPECT_EQ(State().last_error(), "");
}

TEST_F(RoundRunnerTest, ItWaitsForWhatIsDueSoonAndNotForWhatIsDueLater) {
  rounds_.due_ms = absl::ToUnixMillis(clock_.Now() + absl::Minutes(5));
  Start("by-hand");
  EXPECT_TRUE(Run(std::nullopt, absl::Minutes(4)).status.ok());
  EXPECT_EQ(rounds_.ended, 0);
  Answer answer;
  std::thread caller([&] { answer = Run(1, absl::Minutes(6)); });
  Await([&] { return rounds_.looks == 2; });
  Settle();
  rounds_.Add(ScriptedRounds::Ends);
  Pass(absl::Minutes(5));
  caller.join();
  EXPECT_EQ(answer.last.summary().rounds(), 1);
}

TEST_F(RoundRunnerTest, WhoStopsWatchingDoesNotStopTheRounds) {
  std::latch go(1);
  for (int i = 0; i < 5; ++i) {
    rounds_.Add([&](const std::atomic<bool>&) {
      go.wait();
      return true;
    });
  }
  Start("by-hand");
  admin::RunRoundsRequest request;
  EXPECT_TRUE(
      runner_->RunRounds(request, [](const auto&) { return false; }).ok());
  EXPECT_EQ(rounds_.ended, 0);
  go.count_down();
  Await([&] { return rounds_.ended == 5; });
}

TEST_F(RoundRunnerTest, APauseEndsWhatNobodyWaitsForAnyMore) {
  rounds_.always = ScriptedRounds::Ends;
  Start("by-hand");
  admin::RunRoundsRequest request;
  EXPECT_TRUE(
      runner_->RunRounds(request, [](const auto&) { return false; }).ok());
  const int looks = rounds_.looks;
  Await([&] { return rounds_.looks > looks; });
  admin::RoundsState state;
  ASSERT_TRUE(runner_->PauseRounds({}, state).ok());
  Await([&] { return State().state() == "paused"; });
  ASSERT_EQ(State().state(), "paused");
  Settle();
  // A resumption does not bring it back.
  ASSERT_TRUE(runner_->ResumeRounds({}, state).ok());
  const int then = rounds_.looks;
  Settle();
  EXPECT_EQ(rounds_.looks, then);
}

TEST_F(RoundRunnerTest, WhoStopsWatchingDuringAPauseLeavesNothingBehind) {
  rounds_.always = ScriptedRounds::Ends;
  Start("by-hand");
  admin::RoundsState state;
  ASSERT_TRUE(runner_->PauseRounds({}, state).ok());
  admin::RunRoundsRequest request;
  // Who still watches gets rounds though it is paused.
  EXPECT_TRUE(
      runner_
          ->RunRounds(request, [&](const auto&) { return rounds_.looks < 2; })
          .ok());
  EXPECT_GE(rounds_.looks, 2);
  Await([&] { return State().state() == "paused"; });
  EXPECT_EQ(State().state(), "paused");
}

TEST_F(RoundRunnerTest, StopLeavesTheRoundOpenAndTellsWhoAskedForIt) {
  rounds_.Add(ScriptedRounds::UntilStopped);
  Start("by-hand");
  Answer answer;
  std::thread caller([&] { answer = Run(3); });
  Await([&] { return rounds_.at_once == 1; });
  admin::RoundsState state;
  ASSERT_TRUE(runner_->StopRounds({}, state).ok());
  EXPECT_EQ(state.state(), "waiting");
  caller.join();
  EXPECT_TRUE(absl::IsCancelled(answer.status)) << answer.status;
  EXPECT_TRUE(rounds_.is_open);
  EXPECT_EQ(runner_->Status().rounds_by_result().at("stopped"), 1);
  Settle();
  EXPECT_EQ(rounds_.looks, 1);  // By hand: nobody asks for more.
}

TEST_F(RoundRunnerTest, AStoppedRoundGoesOnAfterAMinute) {
  rounds_.Add(ScriptedRounds::UntilStopped);
  Start("continuous");
  Await([&] { return State().state() == "running"; });
  admin::RoundsState state;
  ASSERT_TRUE(runner_->StopRounds({}, state).ok());
  Settle();
  EXPECT_EQ(rounds_.looks, 1);
  Pass(absl::Minutes(1));
  Await([&] { return rounds_.looks == 2; });
}

TEST_F(RoundRunnerTest, APauseOutlivesTheProcessAndAWishDoesNotCare) {
  rounds_.always = ScriptedRounds::Ends;
  Start("by-hand");
  admin::RoundsState state;
  ASSERT_TRUE(runner_->PauseRounds({}, state).ok());
  EXPECT_EQ(state.state(), "paused");
  EXPECT_TRUE(state.paused());
  runner_.reset();

  Start("continuous");
  Settle();
  EXPECT_EQ(rounds_.looks, 0);
  EXPECT_EQ(State().state(), "paused");
  EXPECT_EQ(Run(2).last.summary().rounds(), 2);
  Settle();
  EXPECT_EQ(rounds_.looks, 2);

  ASSERT_TRUE(runner_->ResumeRounds({}, state).ok());
  EXPECT_FALSE(state.paused());
  Await([&] { return rounds_.looks > 2; });
  runner_.reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(RoundRunnerTest, TheEndStopsTheRoundAndTellsThoseWhoWait) {
  rounds_.always = ScriptedRounds::UntilStopped;
  Start("by-hand", absl::Milliseconds(500));
  Answer answer;
  std::thread caller([&] { answer = Run(1); });
  Await([&] { return rounds_.at_once == 1; });
  clock_.AwaitWaiters(1);  // The caller, which only a signal wakes.
  runner_->End();
  caller.join();
  EXPECT_TRUE(absl::IsUnavailable(answer.status)) << answer.status;
  EXPECT_TRUE(answer.last.has_summary());
  EXPECT_TRUE(absl::IsUnavailable(Run(1).status));
}

TEST_F(RoundRunnerTest, ABadRequestIsSaidToBeOne) {
  Start("by-hand");
  EXPECT_TRUE(absl::IsInvalidArgument(Run(0).status));
  EXPECT_TRUE(absl::IsInvalidArgument(Run(-5).status));
  EXPECT_TRUE(absl::IsInvalidArgument(Run(1, -absl::Seconds(1)).status));
  EXPECT_EQ(rounds_.looks, 0);
}

TEST_F(RoundRunnerTest, ARoundThatHangsShowsNoLife) {
  rounds_.Add(ScriptedRounds::UntilStopped);
  Start("continuous");
  Await([&] { return State().state() == "running"; });
  EXPECT_TRUE(runner_->ShowsLife());
  Pass(absl::Minutes(44));
  EXPECT_TRUE(runner_->ShowsLife());
  Pass(absl::Minutes(2));
  EXPECT_FALSE(runner_->ShowsLife());
}

TEST_F(RoundRunnerTest, WhatRoundsTookDoesNotDependOnAClockThatIsSet) {
  rounds_.Add([&](const std::atomic<bool>&) {
    clock_.Advance(absl::Seconds(7));
    clock_.Jump(-absl::Hours(2));
    return true;
  });
  Start("by-hand");
  EXPECT_EQ(Run(1).last.summary().seconds(), 7);
  EXPECT_EQ(runner_->Status().lifetime().seconds(), 7);
}

TEST_F(RoundRunnerTest, AClockThatIsPutForwardIsNoRoundThatHangs) {
  rounds_.Add(ScriptedRounds::UntilStopped);
  Start("continuous");
  Await([&] { return State().state() == "running"; });
  clock_.Jump(absl::Hours(24));
  EXPECT_TRUE(runner_->ShowsLife());
}

TEST_F(RoundRunnerTest, AClockThatIsSetBackIsNotWaitedFor) {
  rounds_.Add(FindsTheDiskFull);
  Start("continuous");
  Settle();
  EXPECT_EQ(rounds_.looks, 1);  // To be tried again in a minute.
  clock_.Jump(-absl::Hours(2));
  Settle();
  EXPECT_EQ(rounds_.looks, 1);
  Pass(absl::Minutes(1));
  Settle();
  EXPECT_EQ(rounds_.looks, 2);
}

}  // namespace
}  // namespace gannet::sites
