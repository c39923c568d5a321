#include "jobs/fetch/response.h"

namespace gannet::jobs {

std::string_view FailureName(Failure failure) {
  static constexpr std::string_view kNames[kFailureCount] = {
      "none",
      "dns",
      "address_refused",
      "connect",
      "tls",
      "timeout",
      "first_byte",
      "too_slow",
      "too_large",
      "headers_too_large",
      "cut_short",
      "reset",
      "garbage",
      "memory",
      "stopped",
      "internal"};
  return kNames[static_cast<int>(failure)];
}

}  // namespace gannet::jobs
