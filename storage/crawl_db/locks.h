// The locks of the crawl DB, in the order in which they are taken: stripes,
// pairs, then Store's own.
//
// A stripe is a sixteenth of the buckets. A verb that rewrites a page, a host
// or a deferred URL from what it has read holds its stripe, so that two verbs
// never rewrite one row from the same old record. A pair is this site with one
// other: a verb that touches its outbox, its batches or their numbers holds it.
//
// Which of them a verb needs is known only at run time, which Clang's analysis
// cannot follow. It does check that some are held where rows are changed:
// functions that need them say ABSL_EXCLUSIVE_LOCKS_REQUIRED.
#pragma once

#include <array>
#include <bitset>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "storage/crawl_db/keys.h"
#include "storage/mutex.h"

namespace gannet::storage {

class ABSL_LOCKABLE Stripes {
 public:
  static constexpr size_t kCount = 16;
  using Chosen = std::bitset<kCount>;
  static size_t Of(std::string_view page_or_host) {
    return BucketOf(page_or_host) % kCount;
  }

  void Lock(const Chosen& chosen) ABSL_EXCLUSIVE_LOCK_FUNCTION();
  void Unlock(const Chosen& chosen) ABSL_UNLOCK_FUNCTION();

 private:
  std::array<Mutex, kCount> mutexes_;
};

// Locks the stripes of some pages or hosts, or all, while it lives.
class ABSL_SCOPED_LOCKABLE StripeLocks {
 public:
  explicit StripeLocks(Stripes& stripes) ABSL_EXCLUSIVE_LOCK_FUNCTION(stripes);
  StripeLocks(Stripes& stripes, const std::vector<std::string_view>& pages)
      ABSL_EXCLUSIVE_LOCK_FUNCTION(stripes);
  ~StripeLocks() ABSL_UNLOCK_FUNCTION();
  StripeLocks(const StripeLocks&) = delete;
  StripeLocks& operator=(const StripeLocks&) = delete;

 private:
  Stripes& stripes_;
  Stripes::Chosen chosen_;
};

class ABSL_LOCKABLE Pairs {
 public:
  void Lock(const std::set<SiteId>& sites) ABSL_EXCLUSIVE_LOCK_FUNCTION();
  void Unlock(const std::set<SiteId>& sites) ABSL_UNLOCK_FUNCTION();

 private:
  Mutex& MutexOf(SiteId site) ABSL_LOCKS_EXCLUDED(mu_);

  Mutex mu_;
  std::map<SiteId, Mutex> mutexes_ ABSL_GUARDED_BY(mu_);  // Nodes never move.
};

// Locks the pairs with some sites while it lives.
class ABSL_SCOPED_LOCKABLE PairLocks {
 public:
  PairLocks(Pairs& pairs, std::set<SiteId> sites)
      ABSL_EXCLUSIVE_LOCK_FUNCTION(pairs);
  ~PairLocks() ABSL_UNLOCK_FUNCTION();
  PairLocks(const PairLocks&) = delete;
  PairLocks& operator=(const PairLocks&) = delete;

 private:
  Pairs& pairs_;
  const std::set<SiteId> sites_;
};

}  // namespace gannet::storage
