// A map in a file that the administrator copies to every site: for federations
// that change seldom, and whose sites must trust nobody. Sites only read it;
// commands print the next one. It is JSON, so that it can be read and compared.
// Functions only; thread-safe.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "federation/map/map_check.h"

namespace gannet::federation {

// A map as people read it; and back. kInvalidArgument says what is wrong.
std::string MapToText(const Map& map);
absl::StatusOr<Map> MapFromText(const std::string& text);

// kNotFound: there is none yet.
absl::StatusOr<Map> ReadMapFile(const std::string& path);

}  // namespace gannet::federation
