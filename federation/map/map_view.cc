#include "federation/map/map_view.h"

#include <utility>

#include "federation/placement/hash_placement.h"

namespace gannet::federation {
namespace {

absl::StatusOr<std::unique_ptr<const Placement>> MakePlacement(
    const proto::MapPlacement& settings) {
  std::vector<SiteCapacity> sites;
  for (const proto::MapPlacement::Share& share : settings.shares()) {
    sites.push_back(
        {storage::SiteId{share.site()}, static_cast<double>(share.capacity())});
  }
  auto made = HashPlacement::Create(
      {.virtual_nodes = settings.virtual_nodes(), .seed = settings.seed()},
      sites);
  if (!made.ok()) return made.status();
  return std::unique_ptr<const Placement>(*std::move(made));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const MapView>> MapView::Create(
    Map map, std::string_view self) {
  if (absl::Status s = CheckMap(map); !s.ok()) return s;
  std::shared_ptr<MapView> view(new MapView());
  view->map_ = std::move(map);
  for (const proto::MapSite& site : view->map_.sites()) {
    if (!IsActive(site)) continue;
    if (site.name() == self) {
      view->self_ = &site;
    } else {
      view->peers_.push_back(&site);
    }
  }
  auto placement = MakePlacement(view->map_.placement());
  if (!placement.ok()) return placement.status();
  view->placement_ = *std::move(placement);
  if (IsHandingOff(view->map_)) {
    auto previous = MakePlacement(view->map_.previous_placement());
    if (!previous.ok()) return previous.status();
    view->previous_ = *std::move(previous);
  }
  return view;
}

}  // namespace gannet::federation
