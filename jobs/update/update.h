// update: the round's links go where they belong. It reads the outlinks of this
// round's pages and nothing else, sums what each target gets, and settles the
// targets in key order, so that looking them up touches each block of the crawl
// DB once.
//
// Of the targets that are new, at most `new_pages` get in, those with the most
// cash; the others are deferred and compete again (UniCrawl's r·l; it drops
// them). The exact best are found in two steps: a threshold, from a histogram
// of cash, above which all surely get in; then, when all is settled, the best
// of the deferred, old and new, until the quota is full.
//
// Memory is bounded by `targets_in_memory`: a round with more links is read
// several times, one range of keys after the other.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::jobs {

struct UpdateSettings {
  int64_t new_pages = 80'000;
  bool drop_over_quota = false;    // As UniCrawl does.
  int64_t max_pages_per_host = 0;  // In all; 0: no limit.
  size_t targets_in_memory = 2'000'000;
  size_t batch = 8192;
  // A fetched page that is due within this keeps the cash that it gets.
  absl::Duration soon = absl::Hours(24);
};

struct UpdateView {
  std::atomic<int64_t> targets = 0;  // Distinct, of this pass.
  std::atomic<int64_t> settled = 0;
};

// Settles what the open round has not settled yet; after a crash it goes on.
// kCancelled if `stop` was set: the rest is settled next time.
// REQUIRES: the round is in its update phase.
absl::Status Update(storage::CrawlDb& crawl_db, const UpdateSettings& settings,
                    absl::Time now, const std::atomic<bool>& stop,
                    UpdateView& view);

}  // namespace gannet::jobs
