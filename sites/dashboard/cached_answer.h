// CachedAnswer keeps an answer that is costly to compute. It is asked again
// only after `at_least` and a hundred times as long as the last answer took:
// however many pages are open, a scan takes at most a hundredth of one core.
// While one caller waits for a new answer, others get the old one, or are told
// to come back, so that a scan never holds more than one of the server's few
// threads. Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/clock.h"
#include "storage/mutex.h"

namespace gannet::sites {

class CachedAnswer {
 public:
  // `clock` must outlive it.
  CachedAnswer(absl::Duration at_least, storage::Clock& clock)
      : at_least_(at_least), clock_(clock) {}

  // Nullopt: another caller is computing it, and there is no old answer. Errors
  // are not kept.
  absl::StatusOr<std::optional<std::string>> Get(
      const std::function<absl::StatusOr<std::string>()>& find_out)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const absl::Duration at_least_;
  storage::Clock& clock_;
  storage::Mutex mu_;
  bool is_asking_ ABSL_GUARDED_BY(mu_) = false;
  absl::Time good_until_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  std::optional<std::string> answer_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::sites
