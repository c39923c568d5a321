#include "jobs/fetch/back_off.h"

#include <algorithm>

namespace gannet::jobs {

absl::Duration BackOff(int failures, absl::Duration base, absl::Duration cap,
                       double random01) {
  if (failures <= 0) return absl::ZeroDuration();
  absl::Duration longest = std::min(base, cap);
  for (int i = 1; i < failures && longest < cap; ++i) {
    if (longest <= absl::ZeroDuration()) break;  // Never reaches the cap.
    longest = std::min(2 * longest, cap);
  }
  return longest / 2 + longest / 2 * std::clamp(random01, 0.0, 1.0);
}

}  // namespace gannet::jobs
