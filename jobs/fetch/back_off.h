// How long to leave a host alone that has failed. Functions only; safe from any
// thread.
#pragma once

#include "absl/time/time.h"

namespace gannet::jobs {

// Doubles with each failure from `base` up to `cap`; then between half of that
// and all of it, by `random01` in [0, 1): hosts that failed together must not
// be asked again together. Zero if nothing failed.
absl::Duration BackOff(int failures, absl::Duration base, absl::Duration cap,
                       double random01);

}  // namespace gannet::jobs
