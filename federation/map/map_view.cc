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

std::optional<Channel> MapView::ChannelOfPage(std::string_view page) const {
  return ChannelOf(storage::PageKey{std::string(page)},
                   map_.rules().channel() == proto::CHANNEL_HOST
                       ? ChannelUnit::kHost
                       : ChannelUnit::kDomain);
}

std::optional<storage::SiteId> MapView::OwnerOf(std::string_view page) const {
  const std::optional<Channel> channel = ChannelOfPage(page);
  if (!channel.has_value()) return std::nullopt;
  return placement_->owner(*channel);
}

bool MapView::IsMine(std::string_view page) const {
  return self_ != nullptr && OwnerOf(page) == storage::SiteId{self_->id()};
}

std::optional<storage::SiteId> MapView::PreviousOwnerOf(
    std::string_view page) const {
  if (previous_ == nullptr) return std::nullopt;
  const std::optional<Channel> channel = ChannelOfPage(page);
  if (!channel.has_value()) return std::nullopt;
  const storage::SiteId owner = previous_->owner(*channel);
  const proto::MapSite* site = FindSite(map_, static_cast<uint32_t>(owner));
  if (site == nullptr || !IsActive(*site)) return std::nullopt;
  return owner;
}

}  // namespace gannet::federation
