// How a command reports an error: one line on standard error that tells what to
// do, and the exit code that belongs to it.
#pragma once

#include "absl/status/status.h"
#include "sites/agent/exit_code.h"

namespace gannet::sites {

// Prints "error: ..." unless `status` is OK.
ExitCode Report(const absl::Status& status);

}  // namespace gannet::sites
