// FileMap is a map in a file that the administrator copies to every site: for
// federations that change seldom, and whose sites must trust nobody. Sites only
// read it; commands print the next one. It is JSON, so that it can be read and
// compared. Thread-safe.
#pragma once

#include <string>

#include "federation/map/map_keeper.h"
#include "storage/clock.h"

namespace gannet::federation {

// A map as people read it; and back. kInvalidArgument says what is wrong.
std::string MapToText(const Map& map);
absl::StatusOr<Map> MapFromText(const std::string& text);

class FileMap : public MapKeeper {
 public:
  FileMap(std::string path, storage::Clock& clock)
      : path_(std::move(path)), clock_(clock) {}

  absl::StatusOr<Map> Get() override;
  // kFailedPrecondition, always.
  absl::Status CompareAndSwap(const Map& expected, const Map& next) override;
  absl::StatusOr<Map> Watch(const Map& known, absl::Duration at_most) override;

 private:
  const std::string path_;
  storage::Clock& clock_;
};

}  // namespace gannet::federation
