#include "sites/dashboard/cached_answer.h"

#include <algorithm>

namespace gannet::sites {

absl::StatusOr<std::optional<std::string>> CachedAnswer::Get(
    const std::function<absl::StatusOr<std::string>()>& find_out) {
  const absl::Time began = clock_.SteadyNow();
  {
    storage::MutexLock lock(&mu_);
    if (is_asking_ || began < good_until_) return answer_;
    is_asking_ = true;
  }
  absl::StatusOr<std::string> found = find_out();
  const absl::Time ended = clock_.SteadyNow();

  storage::MutexLock lock(&mu_);
  is_asking_ = false;
  if (!found.ok()) return found.status();
  answer_ = *std::move(found);
  good_until_ = ended + std::max(at_least_, 100 * (ended - began));
  return answer_;
}

}  // namespace gannet::sites
