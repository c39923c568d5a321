// SimulatedClock stands still until a test moves it on; then threads that wait
// for a time that has come wake at once. SleepFor() moves it on by itself, so a
// test of one thread sleeps for years in no time. Thread-safe.
#pragma once

#include <cstdint>
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
    uint64_t id = 0;
    {
      storage::MutexLock lock(&mu_);
      if (steady_ >= until) return;
      id = ++last_id_;
      waiters_.push_back({id, &changed, mu, until});
      waiting_.SignalAll();
    }
    changed.Wait(mu);
    storage::MutexLock lock(&mu_);
    std::erase_if(waiters_, [&](const Waiter& w) { return w.id == id; });
  }

  void SleepFor(absl::Duration time) override { Advance(time); }

  // REQUIRES: the caller holds no mutex that another thread waits with.
  void Advance(absl::Duration time) ABSL_LOCKS_EXCLUDED(mu_) {
    {
      storage::MutexLock lock(&mu_);
      now_ += time;
      steady_ += time;
    }
    Wake(/*all=*/false);
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

  // Until so many threads have seen everything that was done before this, and
  // have nothing to do at this time. REQUIRES: as Advance().
  void Settle(size_t count) ABSL_LOCKS_EXCLUDED(mu_) {
    AwaitWaiters(count);
    Wake(/*all=*/true);
    AwaitWaiters(count);
  }

 private:
  struct Waiter {
    uint64_t id;
    storage::Condition* changed;
    storage::Mutex* mu;
    absl::Time until;
  };

  // Those whose time has come, or all, for no reason. They are no waiters from
  // now on, however long they take to wake.
  void Wake(bool all) ABSL_LOCKS_EXCLUDED(mu_) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    std::vector<Waiter> woken;
    {
      storage::MutexLock lock(&mu_);
      const absl::Time come = all ? absl::InfiniteFuture() : steady_;
      std::erase_if(waiters_, [&](const Waiter& waiter) {
        if (waiter.until > come) return false;
        woken.push_back(waiter);
        return true;
      });
    }
    // Under its mutex, for it may be about to wait.
    for (const Waiter& waiter : woken) {
      storage::MutexLock lock(waiter.mu);
      waiter.changed->SignalAll();
    }
  }

  mutable storage::Mutex mu_;
  storage::Condition waiting_;
  absl::Time now_ ABSL_GUARDED_BY(mu_);
  absl::Time steady_ ABSL_GUARDED_BY(mu_);
  uint64_t last_id_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet
