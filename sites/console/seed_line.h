// A line of a seeds file: a URL, and how far to go from it, if the line says.
//
//   https://example.org/guide/      scope=prefix max-depth=3
//
// A function; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace gannet::sites {

struct SeedLine {
  std::string url;
  std::string scope;  // Empty: it does not say.
  std::optional<uint32_t> max_depth;
};

// kInvalidArgument: what it says of scope or depth is wrong.
absl::StatusOr<SeedLine> ParseSeedLine(std::string_view line);

}  // namespace gannet::sites
