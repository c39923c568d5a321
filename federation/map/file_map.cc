#include "federation/map/file_map.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace gannet::federation {
namespace {

constexpr absl::Duration kLookAgain = absl::Seconds(1);

}  // namespace

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

absl::StatusOr<Map> FileMap::Get() {
  std::ifstream in(path_);
  if (!in) {
    return absl::NotFoundError(fmt::format(
        "there is no map {}; copy the federation's map there, or begin one: "
        "'gannet federation join' prints the first, with this site in it",
        path_));
  }
  std::ostringstream text;
  text << in.rdbuf();
  absl::StatusOr<Map> map = MapFromText(text.str());
  if (map.ok()) return map;
  return absl::InvalidArgumentError(
      fmt::format("{}: {}", path_, std::string(map.status().message())));
}

absl::Status FileMap::CompareAndSwap(const Map&, const Map&) {
  return absl::FailedPreconditionError(fmt::format(
      "the map is a file, {}, which sites only read; the commands of 'gannet "
      "federation' print the next one: copy it to every site",
      path_));
}

absl::StatusOr<Map> FileMap::Watch(const Map& known, absl::Duration at_most) {
  const absl::Time give_up = clock_.SteadyNow() + at_most;
  for (;;) {
    absl::StatusOr<Map> map = Get();
    if (!map.ok() || IsNewer(*map, known)) return map;
    const absl::Duration left = give_up - clock_.SteadyNow();
    if (left <= absl::ZeroDuration()) return map;
    clock_.SleepFor(std::min(left, kLookAgain));
  }
}

}  // namespace gannet::federation
