// HammerTally counts the answers that the clients of admin_hammer got, by verb.
// Only the test knows which errors are all right at which moment (it restarts
// the agent), so they are kept with their times. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "storage/mutex.h"

namespace gannet::sites {

class HammerTally {
 public:
  // `status` is OK for every answer that the question allows.
  void Add(const std::string& verb, absl::Time began,
           const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_) {
    const std::string message(status.message());
    storage::MutexLock lock(&mu_);
    if (status.ok()) {
      ++answered_[verb];
    } else if (absl::IsUnavailable(status)) {
      away_.push_back({verb, absl::ToDoubleSeconds(began - absl::UnixEpoch()),
                       absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()),
                       message});
    } else if (absl::IsAborted(status)) {
      ++too_many_[message];
    } else if (errors_.size() < kMostErrors) {
      errors_.push_back(verb + ": " + status.ToString());
    }
  }

  // {"answered": {VERB: COUNT}, "too_many": {MESSAGE: COUNT},
  //  "away": [[VERB, BEGAN, ENDED, MESSAGE]], "errors": [TEXT]}, times as
  // seconds since 1970.
  nlohmann::json Json() ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    return {{"answered", answered_},
            {"too_many", too_many_},
            {"away", away_},
            {"errors", errors_}};
  }

 private:
  static constexpr size_t kMostErrors = 10;  // Further ones are left out.

  storage::Mutex mu_;
  std::map<std::string, int64_t> answered_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, int64_t> too_many_ ABSL_GUARDED_BY(mu_);
  nlohmann::json away_ ABSL_GUARDED_BY(mu_) = nlohmann::json::array();
  std::vector<std::string> errors_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::sites
