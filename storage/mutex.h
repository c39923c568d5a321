// A std::mutex that Clang's -Wthread-safety understands. absl::Mutex would do,
// but Debian's libabsl is not built for the thread sanitizer, which then sees
// no lock at all and reports every guarded field as a race; a std::mutex it
// sees. Thread-safe, of course.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

namespace gannet::storage {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mu_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mu_.unlock(); }

 private:
  friend class Condition;
  std::mutex mu_;
};

// Waits for somebody to say that something guarded by the mutex has changed.
// May wake for no reason: wait in a loop.
class Condition {
 public:
  void Wait(Mutex* mu) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    std::unique_lock<std::mutex> lock(mu->mu_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }
  void WaitFor(Mutex* mu, absl::Duration at_most)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    std::unique_lock<std::mutex> lock(mu->mu_, std::adopt_lock);
    changed_.wait_for(lock, absl::ToChronoMicroseconds(at_most));
    lock.release();
  }
  void SignalAll() { changed_.notify_all(); }
  void SignalOne() { changed_.notify_one(); }

 private:
  std::condition_variable changed_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mu) ABSL_EXCLUSIVE_LOCK_FUNCTION(mu) : mu_(mu) {
    mu_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mu_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mu_;
};

}  // namespace gannet::storage
