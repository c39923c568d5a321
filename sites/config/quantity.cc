#include "sites/config/quantity.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace gannet::sites {
namespace {

struct DurationUnit {
  std::string_view name;
  int64_t milliseconds;
};
// Longer names first where one begins with another.
constexpr std::array<DurationUnit, 5> kDurationUnits = {{{"ms", 1},
                                                         {"s", 1000},
                                                         {"m", 60'000},
                                                         {"h", 3'600'000},
                                                         {"d", 86'400'000}}};

struct SizeUnit {
  std::string_view name;
  uint64_t bytes;
};
constexpr std::array<SizeUnit, 9> kSizeUnits = {{
    {"TiB", uint64_t{1} << 40},
    {"TB", 1'000'000'000'000},
    {"GiB", uint64_t{1} << 30},
    {"GB", 1'000'000'000},
    {"MiB", uint64_t{1} << 20},
    {"MB", 1'000'000},
    {"KiB", uint64_t{1} << 10},
    {"kB", 1000},
    {"B", 1},
}};

// Takes digits, with at most one point between them, off the front.
std::optional<double> TakeNumber(std::string_view& text) {
  size_t end = 0;
  bool point = false;
  while (end < text.size() && ((text[end] >= '0' && text[end] <= '9') ||
                               (text[end] == '.' && !point && end > 0))) {
    point = point || text[end] == '.';
    ++end;
  }
  // No quantity has so many digits; stod would have to round.
  if (end == 0 || end > 18 || text[end - 1] == '.') return std::nullopt;
  const double number = std::stod(std::string(text.substr(0, end)));
  text.remove_prefix(end);
  return number;
}

}  // namespace

std::optional<absl::Duration> ParseDuration(std::string_view text) {
  if (text == "0") return absl::ZeroDuration();
  if (text.empty()) return std::nullopt;
  double milliseconds = 0;
  while (!text.empty()) {
    const std::optional<double> number = TakeNumber(text);
    if (!number.has_value()) return std::nullopt;
    bool found = false;
    for (const DurationUnit& unit : kDurationUnits) {
      if (!text.starts_with(unit.name)) continue;
      text.remove_prefix(unit.name.size());
      milliseconds += *number * static_cast<double>(unit.milliseconds);
      found = true;
      break;
    }
    if (!found) return std::nullopt;
  }
  if (milliseconds > 1e15) return std::nullopt;  // 30,000 years.
  return absl::Milliseconds(std::llround(milliseconds));
}

std::string DurationText(absl::Duration duration) {
  const int64_t milliseconds = absl::ToInt64Milliseconds(duration);
  if (milliseconds == 0) return "0";
  for (auto unit = kDurationUnits.rbegin(); unit != kDurationUnits.rend();
       ++unit) {
    if (milliseconds % unit->milliseconds == 0) {
      return fmt::format("{}{}", milliseconds / unit->milliseconds, unit->name);
    }
  }
  return {};
}

std::optional<uint64_t> ParseSize(std::string_view text) {
  const std::optional<double> number = TakeNumber(text);
  if (!number.has_value()) return std::nullopt;
  double factor = 1;
  if (!text.empty()) {
    factor = 0;
    for (const SizeUnit& unit : kSizeUnits) {
      if (text == unit.name) factor = static_cast<double>(unit.bytes);
    }
    if (text == "KB") factor = 1000;  // A common slip of the shift key.
    if (factor == 0) return std::nullopt;
  }
  const double bytes = *number * factor;
  if (bytes >= 9.2e18 || bytes != std::floor(bytes)) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

std::string SizeText(uint64_t bytes) {
  if (bytes == 0) return "0";
  for (const SizeUnit& unit : kSizeUnits) {
    if (bytes % unit.bytes == 0) {
      return fmt::format("{}{}", bytes / unit.bytes, unit.name);
    }
  }
  return {};
}

}  // namespace gannet::sites
