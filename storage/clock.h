// Clock is the time and the waiting of whatever lives long. It comes in through
// the constructor: a running site passes SystemClock(), a test or a simulation
// one that stands still until it is moved on (tests/simulated_clock.h). Commands
// that end soon ask absl::Now() themselves.
//
// There are two times. Now() is the machine's: it is stored and shown, and may
// jump. SteadyNow() never jumps: delays and deadlines go by it, so that setting
// the machine's clock makes the crawler neither impolite nor idle. Thread-safe.
#pragma once

#include <algorithm>
#include <chrono>

#include "absl/base/thread_annotations.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "storage/mutex.h"

namespace gannet::storage {

class Clock {
 public:
  virtual ~Clock() = default;

  virtual absl::Time Now() const = 0;
  virtual absl::Time SteadyNow() const = 0;
  // Waits until `changed` is signalled or SteadyNow() is `until`. May wake for
  // no reason: wait in a loop.
  virtual void WaitUntil(Condition& changed, Mutex* mu, absl::Time until)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) = 0;
  virtual void SleepFor(absl::Duration time) = 0;

  void WaitFor(Condition& changed, Mutex* mu, absl::Duration at_most)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    WaitUntil(changed, mu, SteadyNow() + at_most);
  }
  // When a stored time comes, as SteadyNow() sees it.
  absl::Time ToSteady(absl::Time stored) const {
    return SteadyNow() + (stored - Now());
  }
};

// The machine's.
inline Clock& SystemClock() {
  class System : public Clock {
   public:
    absl::Time Now() const override { return absl::Now(); }
    absl::Time SteadyNow() const override {
      return origin_time_ + absl::FromChrono(Steady::now() - origin_);
    }
    void WaitUntil(Condition& changed, Mutex* mu, absl::Time until) override
        ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
      if (until == absl::InfiniteFuture()) return changed.Wait(mu);
      // The standard library's longest waits overflow.
      const absl::Duration left =
          std::min(until - SteadyNow(), absl::Hours(24));
      if (left > absl::ZeroDuration()) changed.WaitFor(mu, left);
    }
    void SleepFor(absl::Duration time) override { absl::SleepFor(time); }

   private:
    using Steady = std::chrono::steady_clock;
    const Steady::time_point origin_ = Steady::now();
    const absl::Time origin_time_ = absl::Now();
  };
  static System system;
  return system;
}

}  // namespace gannet::storage
