// Claims is the open round's fetch list as memory has it: a hash of each page
// that is still to be fetched. The page's own record does not say so, because
// generate would then have to rewrite it (README). Thread-safe; a caller that
// adds or removes a page holds its stripe, so that memory and disk agree.
#pragma once

#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/numeric/int128.h"
#include "storage/crawl_db/hash128.h"
#include "storage/mutex.h"

namespace gannet::storage {

class Claims {
 public:
  void Add(std::string_view page) ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::uint128 hash = Hash128(page);
    MutexLock lock(&mu_);
    pages_.insert(hash);
  }
  void Remove(std::string_view page) ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::uint128 hash = Hash128(page);
    MutexLock lock(&mu_);
    pages_.erase(hash);
  }
  bool Has(std::string_view page) const ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::uint128 hash = Hash128(page);
    MutexLock lock(&mu_);
    return pages_.contains(hash);
  }

 private:
  mutable Mutex mu_;
  absl::flat_hash_set<absl::uint128> pages_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::storage
