#include "sites/config/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "sites/config/quantity.h"

namespace gannet::sites {
namespace {

constexpr std::string_view kContinuous = "continuous";
constexpr std::string_view kPause = "pause";
constexpr std::string_view kEveryWord = "every";
const absl::Duration kMost = absl::Hours(24 * 365);

void SkipBlanks(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
}

// Takes the word off the front, if it stands there as a whole word.
bool SkipWord(std::string_view word, std::string_view& text) {
  if (!text.starts_with(word)) return false;
  const std::string_view rest = text.substr(word.size());
  if (!rest.empty() && absl::ascii_isalnum(rest[0])) return false;
  text = rest;
  SkipBlanks(text);
  return true;
}

}  // namespace

std::optional<Schedule> Schedule::Parse(std::string_view text) {
  if (text == "by-hand") return Schedule(Kind::kByHand, absl::ZeroDuration());
  if (SkipWord(kContinuous, text)) {
    if (text.empty()) return Schedule();
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
    SkipBlanks(text);
    if (!SkipWord(kPause, text)) return std::nullopt;
    const std::optional<absl::Duration> pause = ParseDuration(text);
    if (!pause.has_value() || *pause > kMost) return std::nullopt;
    return Schedule(Kind::kContinuous, *pause);
  }
  if (SkipWord(kEveryWord, text)) {
    const std::optional<absl::Duration> period = ParseDuration(text);
    if (!period.has_value() || *period < absl::Seconds(1) || *period > kMost) {
      return std::nullopt;
    }
    return Schedule(Kind::kEvery, *period);
  }
  return std::nullopt;
}

std::string Schedule::ToText() const {
  switch (kind_) {
    case Kind::kByHand:
      return "by-hand";
    case Kind::kContinuous:
      if (time_ == absl::ZeroDuration()) return std::string(kContinuous);
      return fmt::format("{}, {} {}", kContinuous, kPause, DurationText(time_));
    case Kind::kEvery:
      return fmt::format("{} {}", kEveryWord, DurationText(time_));
  }
  return "";
}

absl::Time Schedule::NextStart(absl::Time last_start, absl::Time last_end,
                               absl::Time now) const {
  switch (kind_) {
    case Kind::kByHand:
      return absl::InfiniteFuture();
    case Kind::kContinuous:
      // A clock that was set back must not make the pause longer.
      if (last_end == absl::InfinitePast()) return now;
      return std::min(last_end, now) + time_;
    case Kind::kEvery:
      if (last_start == absl::InfinitePast()) return now;
      // The first time after the last start, counted from the epoch; if it has
      // passed, so may have others, which this one stands for.
      return absl::UnixEpoch() +
             absl::Floor(std::min(last_start, now) - absl::UnixEpoch(), time_) +
             time_;
  }
  return absl::InfiniteFuture();
}

}  // namespace gannet::sites
