// DemoFederation is the status of a federation of six simulated sites around
// the world: one is away, one leaves, one has a nasty name. Counters grow with
// time. Thread-safe.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "storage/mutex.h"

namespace gannet::sites {

class DemoFederation {
 public:
  explicit DemoFederation(absl::Time now) : started_(now) {}

  // The answer of /api/federation; "" if there is no federation.
  std::string Json(absl::Time now) const ABSL_LOCKS_EXCLUDED(mu_);

  // "none", "busy", "quiet", "paused", "lost" (the registrar), "begun-anew"
  // (counters fall), "fail TEXT". False: no such command.
  bool Do(const std::string& command, absl::Time now) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable storage::Mutex mu_;
  absl::Time started_ ABSL_GUARDED_BY(mu_);
  std::string is_ ABSL_GUARDED_BY(mu_) = "none";
  std::string error_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::sites
