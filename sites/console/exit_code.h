// What every command returns to the shell (DESIGN, section 10), and how an
// error is said: one line on standard error that tells what to do.
#pragma once

#include "absl/status/status.h"

namespace gannet::sites {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kWrongUsage = 2,  // Or configuration.
  kDiskFull = 3,
  kNotReachable = 4,
  kInterrupted = 130,  // The state is safe.
};

// Prints "error: ..." unless `status` is OK.
ExitCode Report(const absl::Status& status);

}  // namespace gannet::sites
