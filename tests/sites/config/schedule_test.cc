#include "sites/config/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace gannet::sites {
namespace {

using testing::ElementsAre;

const absl::Time kNoon = absl::UnixEpoch() + absl::Hours(24 * 20000 + 12);

absl::Time At(int minutes) { return kNoon + absl::Minutes(minutes); }

Schedule Parsed(std::string_view text) {
  const std::optional<Schedule> schedule = Schedule::Parse(text);
  EXPECT_TRUE(schedule.has_value()) << text;
  return schedule.value_or(Schedule());
}

// The minutes after noon at which rounds begin, by a clock that jumps from one
// event to the next. Round i takes durations[i] minutes; after the first round
// the agent is down until minute `up`.
std::vector<int> Starts(const Schedule& schedule,
                        const std::vector<int>& durations, int down_after = -1,
                        int up = 0) {
  std::vector<int> starts;
  absl::Time now = kNoon;
  absl::Time last_start = absl::InfinitePast(), last_end = absl::InfinitePast();
  for (size_t i = 0; i < durations.size(); ++i) {
    if (static_cast<int>(i) == down_after) now = At(up);
    now = std::max(now, schedule.NextStart(last_start, last_end, now));
    starts.push_back(static_cast<int>((now - kNoon) / absl::Minutes(1)));
    last_start = now;
    now += absl::Minutes(durations[i]);
    last_end = now;
  }
  return starts;
}

TEST(ScheduleTest, SpellingsAreReadAndWrittenBack) {
  for (const char* text : {"by-hand", "continuous", "continuous, pause 10m",
                           "every 30m", "every 36h"}) {
    EXPECT_EQ(Parsed(text).ToText(), text);
  }
  EXPECT_EQ(Parsed("continuous,pause 1h30m").ToText(), "continuous, pause 90m");
  EXPECT_EQ(Parsed("continuous, pause 0s"), Schedule());
}

TEST(ScheduleTest, WhatIsNoScheduleIsRefused) {
  for (const char* text :
       {"", "always", "continuously", "continuous pause 10m", "continuous,",
        "continuous, pause", "continuous, pause 10", "continuous, pause 10m x",
        "every", "every 0s", "every 500ms", "every 30", "every30m", "every -1h",
        "every 400d", "30m", "Every 30m"}) {
    EXPECT_FALSE(Schedule::Parse(text).has_value()) << text;
  }
}

TEST(ScheduleTest, ContinuousRoundsFollowEachOtherAtOnce) {
  EXPECT_THAT(Starts(Parsed("continuous"), {5, 7, 1}), ElementsAre(0, 5, 12));
}

TEST(ScheduleTest, APauseIsCountedFromTheEndOfTheLastRound) {
  EXPECT_THAT(Starts(Parsed("continuous, pause 10m"), {5, 7, 1}),
              ElementsAre(0, 15, 32));
}

TEST(ScheduleTest, EveryHalfHourIsTheHalfHoursWhateverTheRoundsTake) {
  EXPECT_THAT(Starts(Parsed("every 30m"), {5, 29, 1, 1}),
              ElementsAre(0, 30, 60, 90));
}

TEST(ScheduleTest, TimesMissedByALongRoundAreMadeUpForOnceNotTwice) {
  // The first round runs past 30 and 60: one round follows at 70, the next at
  // 90.
  EXPECT_THAT(Starts(Parsed("every 30m"), {70, 5, 5, 5}),
              ElementsAre(0, 70, 90, 120));
}

TEST(ScheduleTest, TimesMissedWhileTheAgentWasDownAreMadeUpForOnce) {
  EXPECT_THAT(Starts(Parsed("every 30m"), {5, 5, 5}, /*down_after=*/1,
                     /*up=*/205),
              ElementsAre(0, 205, 210));
}

TEST(ScheduleTest, AnAgentThatRestartsBetweenTimesWaitsForTheNext) {
  EXPECT_THAT(Starts(Parsed("every 30m"), {5, 5}, /*down_after=*/1, /*up=*/20),
              ElementsAre(0, 30));
}

TEST(ScheduleTest, ARoundThatEndsExactlyOnATimeRunsItOnce) {
  EXPECT_THAT(Starts(Parsed("every 30m"), {30, 30, 5}), ElementsAre(0, 30, 60));
}

TEST(ScheduleTest, AClockThatIsSetBackDoesNotStopTheRounds) {
  // By the clock as it is now, the last round began tomorrow.
  const absl::Time tomorrow = kNoon + absl::Hours(24);
  EXPECT_EQ(Parsed("every 30m").NextStart(tomorrow, tomorrow, At(10)), At(30));
  EXPECT_EQ(
      Parsed("continuous, pause 10m").NextStart(tomorrow, tomorrow, At(10)),
      At(20));
}

TEST(ScheduleTest, ByHandNeverBeginsByItself) {
  EXPECT_EQ(Parsed("by-hand").NextStart(absl::InfinitePast(),
                                        absl::InfinitePast(), kNoon),
            absl::InfiniteFuture());
}

}  // namespace
}  // namespace gannet::sites
