// PutTurns gives each other site one stream at a time: a new one ends the one
// before, and begins when that is over. A site that lost its line need not wait
// until this side has noticed; and a faulty one that opens stream after stream
// costs the memory of one, not of all. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "storage/crawl_db/keys.h"
#include "storage/mutex.h"

namespace gannet::federation {

class PutTurns {
 public:
  // A stream's turn, until it is destroyed.
  class Turn {
   public:
    Turn(PutTurns& turns, storage::SiteId site, uint64_t number)
        : turns_(&turns), site_(site), number_(number) {}
    Turn(Turn&& other) noexcept
        : turns_(std::exchange(other.turns_, nullptr)),
          site_(other.site_),
          number_(other.number_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turns_ != nullptr) turns_->End(site_, number_);
    }

   private:
    PutTurns* turns_;
    storage::SiteId site_;
    uint64_t number_;
  };

  // Ends the site's stream, if there is one, and waits until it has ended.
  // Nothing: a still newer one has come meanwhile. `end` is called at most once
  // and before the turn is over, from any thread; it must not block.
  std::optional<Turn> Begin(storage::SiteId site, std::function<void()> end)
      ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    Line& line = lines_[site];  // Stays where it is, and stays.
    if (line.end_newest) line.end_newest();
    const uint64_t number = ++last_number_;
    line.newest = number;
    line.end_newest = std::move(end);
    changed_.SignalAll();
    while (line.is_taken && line.newest == number) changed_.Wait(&mu_);
    if (line.newest != number) return std::nullopt;
    line.is_taken = true;
    return Turn(*this, site, number);
  }

 private:
  struct Line {
    bool is_taken = false;
    uint64_t newest = 0;
    std::function<void()> end_newest;
  };

  void End(storage::SiteId site, uint64_t number) ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    Line& line = lines_[site];
    line.is_taken = false;
    if (line.newest == number) line.end_newest = nullptr;
    changed_.SignalAll();
  }

  storage::Mutex mu_;
  storage::Condition changed_;
  uint64_t last_number_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<storage::SiteId, Line> lines_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::federation
