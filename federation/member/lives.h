// Lives tells a site from a second copy of it: both have the same name,
// certificate and incarnation, and would number their batches alike. Each
// process draws a random number; while one is heard of, another of the same
// site is refused. A site that was killed and started again is believed once
// its old process has been silent for some seconds. Thread-safe.
#pragma once

#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "federation/map/map_check.h"
#include "proto/peers.pb.h"
#include "storage/mutex.h"

namespace gannet::federation {

class Lives {
 public:
  explicit Lives(absl::Duration silence = absl::Seconds(4))
      : silence_(silence) {}

  // kAlreadyExists: another process of that site speaks, too. `now` is of a
  // steady clock.
  absl::Status Hear(const peers::Greeting& greeting, absl::Time now)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Life {
    uint64_t process = 0;
    absl::Time heard;
  };
  const absl::Duration silence_;
  storage::Mutex mu_;
  std::map<uint32_t, Life> lives_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::federation
