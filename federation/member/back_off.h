// BackOff says how long to wait before what failed is tried again: longer each
// time, up to a bound, and random, so that sites which lost the same peer at
// the same moment do not all call it again at the same moment. Used by one
// thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/time/time.h"
#include "federation/member/random64.h"

namespace gannet::federation {

class BackOff {
 public:
  BackOff(absl::Duration first, absl::Duration longest,
          std::function<uint64_t()> random = Random64)
      : first_(first),
        longest_(longest),
        random_(std::move(random)),
        step_(first) {}

  // Between half of the step and all of it; the next step is twice as long.
  absl::Duration Next() {
    const absl::Duration step = step_;
    step_ = std::min(2 * step_, longest_);
    const double part =
        static_cast<double>(random_() >> 11) / static_cast<double>(1ULL << 53);
    return step * (0.5 + 0.5 * part);
  }
  // The attempt succeeded.
  void Reset() { step_ = first_; }

 private:
  const absl::Duration first_, longest_;
  const std::function<uint64_t()> random_;
  absl::Duration step_;
};

}  // namespace gannet::federation
