// MapView answers what one version of the map says, for one site: who is in it,
// and where channels are placed. Made once for each version; immutable, so
// thread-safe.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "federation/map/map_check.h"
#include "federation/placement/placement.h"
#include "storage/crawl_db/keys.h"

namespace gannet::federation {

class MapView {
 public:
  // kInvalidArgument as CheckMap(). `self` need not be a site of the map: it
  // may have been removed, and then owns nothing.
  static absl::StatusOr<std::shared_ptr<const MapView>> Create(
      Map map, std::string_view self);

  const Map& map() const { return map_; }
  // Null if this site is not, or no longer, in the map.
  const proto::MapSite* self() const { return self_; }
  // Whether this site is the registrar.
  bool IsRegistrar() const {
    return self_ != nullptr && map_.registrar() == self_->id();
  }
  // Sites to exchange with; never this one.
  const std::vector<const proto::MapSite*>& peers() const { return peers_; }
  // That crawl: those that were only invited do not count.
  size_t active_sites() const { return peers_.size() + (self_ != nullptr); }

  // Where channels are by this map. Whose a page is, Ownership says
  // (federation/ownership): do not ask here.
  const Placement& placement() const { return *placement_; }
  // Before the last change that moved channels; null if that is over.
  const Placement* previous_placement() const { return previous_.get(); }

 private:
  MapView() = default;

  Map map_;
  const proto::MapSite* self_ = nullptr;
  std::vector<const proto::MapSite*> peers_;
  std::unique_ptr<const Placement> placement_;
  std::unique_ptr<const Placement> previous_;
};

}  // namespace gannet::federation
