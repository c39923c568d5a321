// Losses remembers which sites may have lost what they were sent, until it was
// sent again: those that began another life, and those that are gone. It is on
// the disk before the map that tells of them, so that a process which is killed
// in between hears of it again. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "federation/map/map_check.h"
#include "federation/map/map_view.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/mutex.h"

namespace gannet::federation {

class Losses {
 public:
  // `crawl_db` must outlive this.
  explicit Losses(storage::CrawlDb& crawl_db) : crawl_db_(crawl_db) {}

  absl::Status Load() ABSL_LOCKS_EXCLUDED(mu_);

  struct List {
    // Sites that began another life: what belongs to them is sent to them
    // again.
    std::set<storage::SiteId> reborn;
    // A site is gone: others own what it owned, and may not have it.
    bool somebody_is_gone = false;
    struct Gone {
      Map before;  // The last that had them; without its block list.
      std::set<storage::SiteId> sites;
    };
    // All of those; empty if it is not known what one of them had.
    std::vector<Gone> gone;
    uint64_t version = 0;

    bool empty() const { return reborn.empty() && !somebody_is_gone; }
  };
  List Get() const ABSL_LOCKS_EXCLUDED(mu_);

  // Adds the losses that the second map tells and the first did not; `self` is
  // left out. Numbers of sites are never given twice, so that a site which came
  // and went between the two is noticed.
  absl::Status Add(const Map& before, const Map& after, std::string_view self)
      ABSL_LOCKS_EXCLUDED(mu_);

  // All that `sent` names was sent again. Forgotten, unless there is more by
  // now: then all of it is sent once more.
  absl::Status Forget(const List& sent) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Status Keep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  storage::CrawlDb& crawl_db_;
  mutable storage::Mutex mu_;
  List list_ ABSL_GUARDED_BY(mu_);
};

// Says of each page whether it may have been lost. Immutable, so thread-safe.
class LostPages {
 public:
  // `now` is the map by which it is sent again.
  LostPages(const Losses::List& list, std::shared_ptr<const MapView> now);

  bool Contains(std::string_view page) const;

 private:
  bool WasOfWhoIsGone(std::string_view page) const;

  const std::set<storage::SiteId> reborn_;
  const bool somebody_is_gone_;
  const std::shared_ptr<const MapView> now_;
  struct Before {
    std::shared_ptr<const MapView> view;
    std::set<storage::SiteId> gone;
  };
  std::vector<Before> before_;
};

}  // namespace gannet::federation
