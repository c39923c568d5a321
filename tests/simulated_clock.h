// SimulatedClock stands still until a test moves it on; then threads that wait
// for a time that has come wake at once. SleepFor() moves it on by itself, so a
// test of one thread sleeps for years in no time. Thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
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
    // `changed` may be gone as soon as this returns.
    do {
      changed.Wait(mu);
    } while (IsBeingWokenElseRemove(id));
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
    const auto waits = [](const Waiter& w) { return !w.is_being_woken; };
    while (std::count_if(waiters_.begin(), waiters_.end(), waits) <
           static_cast<ptrdiff_t>(count)) {
      waiting_.Wait(&mu_);
    }
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
    bool is_being_woken = false;
  };

  // Whether Wake() will still signal it.
  bool IsBeingWokenElseRemove(uint64_t id) ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    const auto at = std::find_if(waiters_.begin(), waiters_.end(),
                                 [&](const Waiter& w) { return w.id == id; });
    if (at == waiters_.end()) return false;  // Wake() did.
    if (at->is_being_woken) return true;
    waiters_.erase(at);
    return false;
  }

  // Those whose time has come, or all, for no reason. They do not count as
  // waiters from now on, however long they take to wake.
  void Wake(bool all) ABSL_LOCKS_EXCLUDED(mu_) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    std::vector<Waiter> woken;
    {
      storage::MutexLock lock(&mu_);
      for (Waiter& waiter : waiters_) {
        if (waiter.is_being_woken || (!all && waiter.until > steady_)) continue;
        waiter.is_being_woken = true;
        woken.push_back(waiter);
      }
    }
    // Under its mutex, for it may be about to wait.
    for (const Waiter& waiter : woken) {
      storage::MutexLock lock(waiter.mu);
      {
        storage::MutexLock list_lock(&mu_);
        std::erase_if(waiters_,
                      [&](const Waiter& w) { return w.id == waiter.id; });
      }
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
