#include "sites/dashboard/cached_answer.h"

#include <algorithm>

namespace gannet::sites {

absl::StatusOr<std::optional<std::string>> CachedAnswer::Get(
    const std::function<absl::StatusOr<std::string>()>& find_out) {
  const absl::Time began = now_();
  {
    storage::MutexLock lock(&mu_);
    // Both ways: a clock set back must not keep an answer for ever.
    const bool is_good = began >= asked_ && began < good_until_;
    if (is_asking_ || is_good) return answer_;
    is_asking_ = true;
    asked_ = began;
  }
  absl::StatusOr<std::string> found = find_out();
  const absl::Time ended = now_();

  storage::MutexLock lock(&mu_);
  is_asking_ = false;
  if (!found.ok()) return found.status();
  answer_ = *std::move(found);
  good_until_ = ended + std::max(at_least_, 100 * (ended - began));
  return answer_;
}

}  // namespace gannet::sites
