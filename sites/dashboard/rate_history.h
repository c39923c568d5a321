// RateHistory remembers an hour of how fast a site crawled: counters that only
// grow go in, rates between neighbours come out. Pure, so that a test can let
// an hour pass in no time; RateSampler feeds it. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/time/time.h"

namespace gannet::sites {

struct RateSample {
  absl::Time at;
  int64_t pages = 0;  // Since the agent started.
  int64_t bytes = 0;
};

// Between two samples; `at` is that of the later.
struct Rate {
  absl::Time at;
  double pages_per_second = 0;
  double bytes_per_second = 0;
};

class RateHistory {
 public:
  explicit RateHistory(absl::Duration keep = absl::Hours(1)) : keep_(keep) {}

  // A clock that goes back, as after a correction, begins anew. At most 4,096
  // samples are kept, whatever their times.
  void Add(const RateSample& sample);

  // Oldest first. Where a counter went back (the agent was restarted behind
  // us), there is no rate.
  std::vector<Rate> Rates() const;

 private:
  const absl::Duration keep_;
  std::deque<RateSample> samples_;
};

}  // namespace gannet::sites
