// FetchPhase is a round's fetch+parse (UniCrawl, IV-A: one phase): the network
// thread, the workers that read and archive, and the committer, as one
// pipeline:
//
//   Fetcher ── answers ──► PageWorkers ── completions ──► Committer
//      ▲                                                     │
//      └───────────────── so many are on the disk ───────────┘
//
// A page is fetched again after a crash only if it was under way or in the last
// group: at most connections + max_undelivered.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "jobs/fetch/committer.h"
#include "jobs/fetch/fetcher.h"
#include "jobs/fetch/page_worker.h"
#include "storage/clock.h"
#include "storage/mutex.h"
#include "storage/site_store/site_store.h"

namespace gannet::jobs {

struct FetchPhaseSettings {
  FetchSettings fetch;
  PageSettings page;
  CommitSettings commit;
  int workers = 0;  // 0: one for each core.
};

class FetchPhase {
 public:
  // `clock` must outlive it.
  FetchPhase(const FetchPhaseSettings& settings, storage::Clock& clock)
      : settings_(settings), clock_(clock) {}

  // Fetches what the open round still has to fetch, while `sites` crawl, this
  // one included. Pages may be left in it only if `stop` was set. `is_over`
  // says that the deadline (steady) has come early; it is asked often, by one
  // thread.
  // kResourceExhausted: the disk is full.
  absl::Status Run(storage::SiteStore& store, size_t sites, absl::Time deadline,
                   const std::atomic<bool>& stop,
                   const std::function<bool()>& is_over = {});

  // While it runs, from any thread.
  FetchView view() const ABSL_LOCKS_EXCLUDED(mu_);
  // The same; after the run, its last state until TakeLastView() takes it, so
  // that sums over rounds count it once.
  FetchView view_not_taken() const ABSL_LOCKS_EXCLUDED(mu_);
  FetchView TakeLastView() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const FetchPhaseSettings settings_;
  storage::Clock& clock_;
  mutable storage::Mutex mu_;
  Fetcher* running_ ABSL_GUARDED_BY(mu_) = nullptr;
  FetchView last_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::jobs
