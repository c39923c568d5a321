// A queue between threads. It has no bound of its own: the caller bounds how
// much is under way (Fetcher does, in pages and bytes). Thread-safe.
#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "storage/mutex.h"

namespace gannet::jobs {

template <typename Item>
class WorkQueue {
 public:
  void Push(Item item) {
    storage::MutexLock lock(&mu_);
    items_.push_back(std::move(item));
    changed_.SignalOne();
  }

  // Waits for an item; nothing once the queue is closed and empty.
  std::optional<Item> Pop() {
    storage::MutexLock lock(&mu_);
    while (items_.empty() && !closed_) changed_.Wait(&mu_);
    if (items_.empty()) return std::nullopt;
    std::optional<Item> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  // No more items will come.
  void Close() {
    storage::MutexLock lock(&mu_);
    closed_ = true;
    changed_.SignalAll();
  }

 private:
  storage::Mutex mu_;
  storage::Condition changed_;
  std::deque<Item> items_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace gannet::jobs
