#include "storage/crawl_db/locks.h"

#include <utility>

namespace gannet::storage {

void Stripes::Lock(const Chosen& chosen) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (size_t i = 0; i < kCount; ++i) {
    if (chosen[i]) mutexes_[i].Lock();
  }
}

void Stripes::Unlock(const Chosen& chosen) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (size_t i = 0; i < kCount; ++i) {
    if (chosen[i]) mutexes_[i].Unlock();
  }
}

StripeLocks::StripeLocks(Stripes& stripes) : stripes_(stripes) {
  chosen_.set();
  stripes_.Lock(chosen_);
}

StripeLocks::StripeLocks(Stripes& stripes,
                         const std::vector<std::string_view>& pages)
    : stripes_(stripes) {
  for (std::string_view page : pages) chosen_.set(Stripes::Of(page));
  stripes_.Lock(chosen_);
}

StripeLocks::~StripeLocks() { stripes_.Unlock(chosen_); }

Mutex& Pairs::MutexOf(SiteId site) {
  MutexLock lock(&mu_);
  return mutexes_[site];
}

void Pairs::Lock(const std::set<SiteId>& sites) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (SiteId site : sites) MutexOf(site).Lock();
}

void Pairs::Unlock(const std::set<SiteId>& sites)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (SiteId site : sites) MutexOf(site).Unlock();
}

PairLocks::PairLocks(Pairs& pairs, std::set<SiteId> sites)
    : pairs_(pairs), sites_(std::move(sites)) {
  pairs_.Lock(sites_);
}

PairLocks::~PairLocks() { pairs_.Unlock(sites_); }

}  // namespace gannet::storage
