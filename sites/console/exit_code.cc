#include "sites/console/exit_code.h"

#include <cstdio>
#include <string>

#include "sites/console/terminal_text.h"

namespace gannet::sites {

ExitCode Report(const absl::Status& status) {
  if (status.ok()) return kDone;
  // It may quote a URL: any bytes.
  const std::string message = LinesForTerminal(std::string(status.message()));
  // A stop that was asked for is no error.
  const char* prefix = absl::IsCancelled(status) ? "" : "error: ";
  std::fprintf(stderr, "%s%s\n", prefix, message.c_str());
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
      return kWrongUsage;
    case absl::StatusCode::kResourceExhausted:
      return kDiskFull;
    case absl::StatusCode::kAborted:  // Another process has it now.
    case absl::StatusCode::kUnavailable:
      return kNotReachable;
    case absl::StatusCode::kCancelled:
      return kInterrupted;
    default:
      return kFailed;
  }
}

}  // namespace gannet::sites
