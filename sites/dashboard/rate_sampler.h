// RateSampler asks a site for its counters every ten seconds, from a thread of
// its own, so that a page opened later can show the hour before. That is all
// that a dashboard costs while no browser shows it. Thread-safe.
#pragma once

#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "sites/admin/admin.h"
#include "sites/dashboard/rate_history.h"
#include "storage/clock.h"
#include "storage/mutex.h"

namespace gannet::sites {

class RateSampler {
 public:
  // Begins, after `history`. `admin` and `clock` must outlive it.
  RateSampler(Admin& admin, absl::Duration every,
              const std::vector<RateSample>& history, storage::Clock& clock);
  ~RateSampler();  // Ends the thread.

  absl::Duration every() const { return every_; }
  std::vector<Rate> Rates() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  Admin& admin_;
  const absl::Duration every_;
  storage::Clock& clock_;
  mutable storage::Mutex mu_;
  storage::Condition stop_asked_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  RateHistory history_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace gannet::sites
