// What the program returns to the shell, and to systemd: a contract (DESIGN,
// section 10).
#pragma once

namespace gannet::sites {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kWrongUsage = 2,  // Or configuration.
  kDiskFull = 3,
  kNotReachable = 4,
  kInterrupted = 130,  // The state is safe.
};

}  // namespace gannet::sites
