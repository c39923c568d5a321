// MapKeeper is where the federation's map is kept and changed: by one of the
// sites (registrar), or in etcd. The sites need it to change the map, never to
// crawl. Implementations are thread-safe.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "federation/map/map_check.h"

namespace gannet::federation {

// The next map, or why not: map_changes.h.
using MapChange = std::function<absl::StatusOr<Map>(const Map&)>;

class MapKeeper {
 public:
  virtual ~MapKeeper() = default;

  // kNotFound: there is none yet. kUnavailable: nobody answers.
  virtual absl::StatusOr<Map> Get() = 0;

  // Puts `next` in the place of `expected`. kAborted: another change came
  // first; make this one again on the new map. kUnavailable: nobody answers,
  // and whether it happened is unknown until Get() does. kFailedPrecondition:
  // it cannot be changed from here, and how it can.
  virtual absl::Status CompareAndSwap(const Map& expected, const Map& next) = 0;
};

// Makes a change, again if another one came first; gives up after a few
// attempts, for then something else is wrong. A change that changes nothing
// (the same epoch) writes nothing.
absl::StatusOr<Map> ChangeMap(MapKeeper& keeper, const MapChange& change);

}  // namespace gannet::federation
