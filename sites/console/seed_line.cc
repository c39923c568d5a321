#include "sites/console/seed_line.h"

#include <fmt/format.h>

#include <charconv>

#include "sites/admin/seed_scopes.h"

namespace gannet::sites {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kScope = "scope=";
constexpr std::string_view kMaxDepth = "max-depth=";

std::string_view CutLastWord(std::string_view& text) {
  const size_t blank = text.find_last_of(kBlanks);
  if (blank == std::string_view::npos) return {};
  const std::string_view word = text.substr(blank + 1);
  text = text.substr(0, text.find_last_not_of(kBlanks, blank) + 1);
  return word;
}

}  // namespace

absl::StatusOr<SeedLine> ParseSeedLine(std::string_view line) {
  SeedLine seed;
  // From the end, for a URL may have blanks, as browsers allow.
  for (std::string_view rest = line;;) {
    line = rest;
    const std::string_view word = CutLastWord(rest);
    if (word.starts_with(kScope)) {
      seed.scope = word.substr(kScope.size());
      if (auto kind = SeedScopeOf(seed.scope); !kind.ok()) return kind.status();
    } else if (word.starts_with(kMaxDepth)) {
      const std::string_view number = word.substr(kMaxDepth.size());
      uint32_t depth = 0;
      const auto end = number.data() + number.size();
      const auto read = std::from_chars(number.data(), end, depth);
      if (read.ec != std::errc() || read.ptr != end) {
        return absl::InvalidArgumentError(
            fmt::format("max-depth: found '{:.40}', allowed is a whole number "
                        "of links",
                        number));
      }
      seed.max_depth = depth;
    } else {
      break;
    }
  }
  seed.url = std::string(line);
  return seed;
}

}  // namespace gannet::sites
