#include "sites/console/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "absl/time/time.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {

TextTable::TextTable(std::vector<std::string> headings) {
  for (std::string& heading : headings) {
    right_.push_back(heading.starts_with('>'));
    if (right_.back()) heading.erase(0, 1);
  }
  rows_.push_back(std::move(headings));
}

void TextTable::Add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = ForTerminal(cell);
  cells.resize(right_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::ToString() const {
  std::vector<size_t> widths(right_.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      const std::string space(widths[i] - DisplayWidth(row[i]), ' ');
      line += right_[i] ? space + row[i] : row[i] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string WithCommas(int64_t number) {
  const std::string digits = std::to_string(number);
  const size_t sign = number < 0 ? 1 : 0;
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > sign && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string BytesForPeople(double bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit > 0 && bytes < 99.95 ? 1 : 0,
                     kUnits[unit]);
}

std::string SecondsForPeople(double seconds) {
  if (!(seconds >= 0)) return "-";
  if (seconds < 0.9995) {
    return fmt::format("{} ms", std::llround(seconds * 1000));
  }
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const int64_t s = std::llround(seconds);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
  return fmt::format("{} d {} h", s / 86400, s / 3600 % 24);
}

std::string TimeForPeople(int64_t ms) {
  if (ms == 0) return "-";
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixMillis(ms),
                          absl::UTCTimeZone());
}

}  // namespace gannet::sites
