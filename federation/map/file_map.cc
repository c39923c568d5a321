#include "federation/map/file_map.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <fstream>
#include <sstream>

namespace gannet::federation {

std::string MapToText(const Map& map) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string text;
  (void)google::protobuf::util::MessageToJsonString(map, &text, options);
  return text;
}

absl::StatusOr<Map> MapFromText(const std::string& text) {
  Map map;
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, &map);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("it is not a map: {}", parsed.ToString()));
  }
  if (absl::Status s = CheckMap(map); !s.ok()) return s;
  return map;
}

absl::StatusOr<Map> ReadMapFile(const std::string& path) {
  std::ifstream in(path);
  if (!in) {
    return absl::NotFoundError(fmt::format(
        "there is no map {}; copy the federation's map there, or begin one: "
        "'gannet federation join' prints the first, with this site in it",
        path));
  }
  std::ostringstream text;
  text << in.rdbuf();
  absl::StatusOr<Map> map = MapFromText(text.str());
  if (map.ok()) return map;
  return absl::InvalidArgumentError(
      fmt::format("{}: {}", path, std::string(map.status().message())));
}

}  // namespace gannet::federation
