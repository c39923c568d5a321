// The time of the web, which decides how often its pages have changed. It
// starts at an origin and runs at a given speed, so that a test can see a year
// of changes in a minute; or it stands still where a test sets it. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace gannet::fake_web {

class WebClock {
 public:
  // 2020-01-01, so far back that fast clocks do not reach the future soon.
  static absl::Time DefaultOrigin() {
    return absl::FromUnixSeconds(1577836800);
  }

  explicit WebClock(double speed = 1, absl::Time origin = DefaultOrigin())
      : speed_(speed), origin_(origin), start_(absl::Now()) {}

  absl::Time Now() const {
    const int64_t fixed = fixed_.load(std::memory_order_relaxed);
    if (fixed != kRuns) return absl::FromUnixNanos(fixed);
    return origin_ + (absl::Now() - start_) * speed_;
  }
  // From now on the clock stands still at `time`.
  void Set(absl::Time time) {
    fixed_.store(absl::ToUnixNanos(time), std::memory_order_relaxed);
  }

 private:
  static constexpr int64_t kRuns = std::numeric_limits<int64_t>::min();
  const double speed_;
  const absl::Time origin_;
  const absl::Time start_;
  std::atomic<int64_t> fixed_{kRuns};
};

}  // namespace gannet::fake_web
