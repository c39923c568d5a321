// Schedule says when a site's rounds begin by themselves:
//
//   by-hand               never
//   continuous            when the one before has ended
//   continuous, pause 10m the same, ten minutes later
//   every 30m             at the half hours: times are counted from 1970-01-01
//                         00:00 UTC, so that they stay where they are whenever
//                         the agent starts
//
// Times of `every` that pass while a round runs, or while the agent is down,
// are made up for by one round at once, however many they were. A plain value.
// It has no clock: the caller passes the time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace gannet::sites {

inline constexpr char kScheduleAllowed[] =
    "by-hand, continuous, 'continuous, pause 10m' or 'every 30m'";

class Schedule {
 public:
  Schedule() = default;  // continuous

  // Nothing if it is none. A period is a second at least; neither it nor a
  // pause is longer than a year.
  static std::optional<Schedule> Parse(std::string_view text);
  std::string ToText() const;
  bool operator==(const Schedule&) const = default;

  bool is_by_hand() const { return kind_ == Kind::kByHand; }
  bool is_continuous() const { return kind_ == Kind::kContinuous; }

  // When the next round begins: `now` or earlier means at once, InfiniteFuture
  // never. InfinitePast for `last_start` and `last_end`: there was no round.
  absl::Time NextStart(absl::Time last_start, absl::Time last_end,
                       absl::Time now) const;

 private:
  enum class Kind { kByHand, kContinuous, kEvery };
  Schedule(Kind kind, absl::Duration time) : kind_(kind), time_(time) {}

  Kind kind_ = Kind::kContinuous;
  absl::Duration time_;  // The pause, or the period.
};

}  // namespace gannet::sites
