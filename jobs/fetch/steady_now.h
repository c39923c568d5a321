// A clock for waiting, which never jumps: setting the machine's clock makes the
// crawler neither impolite nor idle. Times that are stored or shown come from
// absl::Now(). Thread-safe.
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
