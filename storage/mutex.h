// A std::mutex that Clang's -Wthread-safety understands. absl::Mutex would do,
// but Debian's libabsl is not built for the thread sanitizer, which then sees
// no lock at all and reports every guarded field as a race; a std::mutex it
// sees. Thread-safe, of course.
#pragma once

#include <mutex>

#include "absl/base/thread_annotations.h"

namespace gannet::storage {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mu_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mu_.unlock(); }

 private:
  std::mutex mu_;
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
