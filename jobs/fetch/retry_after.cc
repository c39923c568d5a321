#include "jobs/fetch/retry_after.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "jobs/fetch/http_date.h"

namespace gannet::jobs {

std::optional<absl::Duration> ParseRetryAfter(std::string_view value,
                                              absl::Time now) {
  const absl::string_view text =
      absl::StripAsciiWhitespace(absl::string_view(value.data(), value.size()));
  if (!text.empty() &&
      text.find_first_not_of("0123456789") == absl::string_view::npos) {
    int64_t seconds = 0;
    if (!absl::SimpleAtoi(text, &seconds)) return absl::InfiniteDuration();
    return absl::Seconds(seconds);
  }
  const std::optional<absl::Time> date = ParseHttpDate(value, now);
  if (!date.has_value()) return std::nullopt;
  return std::max(*date - now, absl::ZeroDuration());
}

}  // namespace gannet::jobs
