// The three date formats of HTTP (RFC 9110, 5.6.7). Functions only; safe from
// any thread.
#pragma once

#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace gannet::jobs {

// "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" or
// "Sun Nov  6 08:49:37 1994". Nothing if it is none of these. The day of the
// week is not compared with the date: servers get it wrong. A year of two
// digits is the one at most 50 years after `now`, as the RFC says.
std::optional<absl::Time> ParseHttpDate(std::string_view text, absl::Time now);

}  // namespace gannet::jobs
