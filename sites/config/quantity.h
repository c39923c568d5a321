// Durations and sizes as people write them: "500ms", "1h30m", "30d"; "1GiB",
// "5MB", "0". A duration needs its unit (is 30 seconds or minutes?), zero
// aside; a size without one is bytes. Functions only; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace gannet::sites {

// Nothing if it is no duration; never negative. Units: ms s m h d.
std::optional<absl::Duration> ParseDuration(std::string_view text);
// The shortest of its spellings: "90m" rather than "1h30m".
std::string DurationText(absl::Duration duration);

// Nothing if it is no size, or above 2^63. Units: B; kB MB GB TB by thousands;
// KiB MiB GiB TiB by 1024.
std::optional<uint64_t> ParseSize(std::string_view text);
// Exactly, in the largest unit that divides it.
std::string SizeText(uint64_t bytes);

}  // namespace gannet::sites
