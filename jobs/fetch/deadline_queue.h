// DeadlineQueue holds deadlines that all have the same limit: so the first that
// was added is the first that is due, and each step takes constant time. Not
// thread-safe.
#pragma once

#include <list>

#include "absl/time/time.h"

namespace gannet::jobs {

template <typename T>
class DeadlineQueue {
 private:
  struct Entry {
    absl::Time due;
    T* who = nullptr;
  };

 public:
  // A place in the queue. Its holder gives it back by Remove(), once.
  class Place {
   public:
    bool is_taken() const { return is_taken_; }

   private:
    friend class DeadlineQueue;
    typename std::list<Entry>::iterator entry_;
    bool is_taken_ = false;
  };

  // REQUIRES: `due` is not before that of any earlier call; `place` is not
  // taken.
  void Add(absl::Time due, T* who, Place& place) {
    // Entries that are not in use are kept: a request needs no allocation.
    if (spare_.empty()) spare_.emplace_back();
    waiting_.splice(waiting_.end(), spare_, spare_.begin());
    place.entry_ = std::prev(waiting_.end());
    *place.entry_ = {due, who};
    place.is_taken_ = true;
  }
  // Harmless if it is not taken.
  void Remove(Place& place) {
    if (!place.is_taken_) return;
    spare_.splice(spare_.begin(), waiting_, place.entry_);
    place.is_taken_ = false;
  }

  size_t size() const { return waiting_.size(); }
  // When the first is due; InfiniteFuture() if the queue is empty.
  absl::Time NextDue() const {
    return waiting_.empty() ? absl::InfiniteFuture() : waiting_.front().due;
  }
  // REQUIRES: the queue is not empty.
  T* First() const { return waiting_.front().who; }

 private:
  std::list<Entry> waiting_;  // In the order of their times.
  std::list<Entry> spare_;
};

}  // namespace gannet::jobs
