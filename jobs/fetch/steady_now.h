// The time for waiting: it never jumps, whatever sets the machine's clock, so a
// step of the clock neither makes the crawler impolite nor lets it sleep for an
// hour. For what is stored and shown there is absl::Now(). Thread-safe.
#pragma once

#include <chrono>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace gannet::jobs {

inline absl::Time SteadyNow() {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point origin = Clock::now();
  static const absl::Time origin_time = absl::Now();
  return origin_time + absl::FromChrono(Clock::now() - origin);
}

// When a stored time comes, as SteadyNow() sees it.
inline absl::Time ToSteady(absl::Time stored) {
  return SteadyNow() + (stored - absl::Now());
}

}  // namespace gannet::jobs
