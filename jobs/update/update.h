// update: the round's links go where they belong: to pages of this site, or by
// its outbox to the sites that own them. It reads the outlinks of this
// round's pages and nothing else, sums what each target gets, and settles the
// targets in key order, so that looking them up touches each block of the crawl
// DB once.
//
// Of the targets that are new, at most `new_pages` get in, those with the most
// cash; the others are deferred and compete again (UniCrawl's r·l; it drops
// them). So first all are looked up, and the cash of those that could get in,
// with those that wait, sets the bar (contest.h); then all are settled against
// it; then the best of the deferred take the places that are left.
//
// Memory is bounded by `targets_in_memory`: a round with more links is read
// several times, one range of keys after the other. How many bytes of links a
// page may bring is bounded too (storage::kMostOutlinkBytes), and with it how
// often.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "federation/exchange/sent_url_cache.h"
#include "federation/map/map_view.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::jobs {

struct UpdateSettings {
  int64_t new_pages = 80'000;    // Of this site; each other gets an equal part.
  bool drop_over_quota = false;  // As UniCrawl does.
  int64_t max_pages_per_host = 0;  // In all; 0: no limit.
  // Distinct ones, of usual length; each takes some 200 bytes. A usual round
  // has fewer: 20,000 pages with 100 links each.
  size_t targets_in_memory = 2'000'000;
  size_t batch = 8192;
  // A fetched page that is due within this keeps the cash that it gets.
  absl::Duration soon = absl::Hours(24);
  // The federation; null: there is none, and everything is this site's. `sent`
  // must outlive the update, and no other thread may use it meanwhile.
  std::shared_ptr<const federation::MapView> map = nullptr;
  federation::SentUrlCache* sent = nullptr;
  // In cash mode, what URLs have gained that were sent before is sent, merged,
  // every so many rounds.
  uint64_t gain_every = 4;
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
