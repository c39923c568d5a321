// SimulatedClock stands still until a test moves it on; then threads that wait
// for a time that has come wake at once. SleepFor() moves it on by itself, so a
// test of one thread sleeps for years in no time. Thread-safe.
#pragma once

#include <algorithm>
#include <list>
#include <vector>

#include "storage/clock.h"

namespace gannet {

class SimulatedClock : public storage::Clock {
 public:
  explicit SimulatedClock(absl::Time now = absl::FromUnixSeconds(1'700'000'000))
      : now_(now), steady_(now) {}

  absl::Time Now() const override ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    return now_;
  }
  absl::Time SteadyNow() const override ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    return steady_;
  }

  void WaitUntil(storage::Condition& changed, storage::Mutex* mu,
                 absl::Time until) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu)
      ABSL_LOCKS_EXCLUDED(mu_) {
    std::list<Waiter>::iterator waiter;
    {
      storage::MutexLock lock(&mu_);
      if (steady_ >= until) return;
      waiter = waiters_.insert(waiters_.end(), {&changed, mu, until});
      waiting_.SignalAll();
    }
    changed.Wait(mu);
    storage::MutexLock lock(&mu_);
    waiters_.erase(waiter);
  }

  void SleepFor(absl::Duration time) override { Advance(time); }

  // REQUIRES: the caller holds no mutex that another thread waits with.
  void Advance(absl::Duration time)
      ABSL_LOCKS_EXCLUDED(mu_) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    std::vector<Waiter> due;
    {
      storage::MutexLock lock(&mu_);
      now_ += time;
      steady_ += time;
      for (const Waiter& waiter : waiters_) {
        if (waiter.until <= steady_) due.push_back(waiter);
      }
    }
    // Under the waiter's mutex, because it may be just about to wait.
    for (const Waiter& waiter : due) {
      storage::MutexLock lock(waiter.mu);
      waiter.changed->SignalAll();
    }
  }

  // As if the machine's clock was set: stored times move, waits do not.
  void Jump(absl::Duration time) ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    now_ += time;
  }

  // Blocks until `count` threads wait: then nothing happens before the next
  // Advance().
  void AwaitWaiters(size_t count) ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    while (waiters_.size() < count) waiting_.Wait(&mu_);
  }

 private:
  struct Waiter {
    storage::Condition* changed;
    storage::Mutex* mu;
    absl::Time until;
  };

  mutable storage::Mutex mu_;
  storage::Condition waiting_;
  absl::Time now_ ABSL_GUARDED_BY(mu_);
  absl::Time steady_ ABSL_GUARDED_BY(mu_);
  std::list<Waiter> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet
