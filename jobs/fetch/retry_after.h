// Retry-After (RFC 9110, 10.2.3): how long a server asks to be left alone.
// Functions only; safe from any thread.
#pragma once

#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace gannet::jobs {

// Seconds or an HTTP date. Zero if the date has passed; nothing if the value is
// nonsense. Not capped, and possibly infinite: the caller knows how long is too
// long.
std::optional<absl::Duration> ParseRetryAfter(std::string_view value,
                                              absl::Time now);

}  // namespace gannet::jobs
