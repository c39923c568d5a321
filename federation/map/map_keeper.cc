#include "federation/map/map_keeper.h"

namespace gannet::federation {

absl::StatusOr<Map> ChangeMap(MapKeeper& keeper, const MapChange& change) {
  constexpr int kMostTries = 20;
  for (int i = 0;; ++i) {
    absl::StatusOr<Map> map = keeper.Get();
    if (!map.ok()) return map;
    absl::StatusOr<Map> next = change(*map);
    if (!next.ok() || !IsNewer(*next, *map)) return next;
    absl::Status swapped = keeper.CompareAndSwap(*map, *next);
    if (swapped.ok()) return next;
    if (!absl::IsAborted(swapped) || i == kMostTries) return swapped;
  }
}

}  // namespace gannet::federation
