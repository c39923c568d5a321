// MapView answers what one version of the map says, for one site: who owns a
// page, and whether it may be crawled here yet. Made once for each version;
// immutable, so thread-safe.
#pragma once

#include <memory>
#include <optional>
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
  // Sites to exchange with; never this one.
  const std::vector<const proto::MapSite*>& peers() const { return peers_; }
  // That crawl: those that were only invited do not count.
  size_t active_sites() const { return peers_.size() + (self_ != nullptr); }

  // The page's owner; nullopt if its key has no host, which no stored key
  // lacks.
  std::optional<storage::SiteId> OwnerOf(std::string_view page) const;
  bool IsMine(std::string_view page) const;
  // Who owned it before the last change that moved channels; nullopt if that
  // hand-off is over, or if that site is gone.
  std::optional<storage::SiteId> PreviousOwnerOf(std::string_view page) const;

 private:
  MapView() = default;
  std::optional<Channel> ChannelOfPage(std::string_view page) const;

  Map map_;
  const proto::MapSite* self_ = nullptr;
  std::vector<const proto::MapSite*> peers_;
  std::unique_ptr<const Placement> placement_;
  std::unique_ptr<const Placement> previous_;
};

}  // namespace gannet::federation
