// Ownership says whose a page is. Everybody asks it and nobody asks the map:
// update's routes, generate, the receiver of batches, the fence, the hand-off,
// losses, resending, plan and verify. So where ownership becomes state of its
// own, beside the map, they need not know.
//
// With consistent hashing, all that there is today, the map says everything
// (MapView::placement()). Immutable and cheap to make; thread-safe.
#pragma once

#include <optional>
#include <string_view>

#include "federation/map/map_view.h"
#include "federation/placement/channel.h"
#include "storage/crawl_db/keys.h"

namespace gannet::federation {

class Ownership {
 public:
  // By this version of the map. `view` must outlive this.
  explicit Ownership(const MapView& view) : view_(view) {}

  // What a page, or a host, belongs to; nothing if its key has no host, which
  // no page of ours is without.
  std::optional<Channel> ChannelOf(std::string_view page) const;
  // Where a page goes; nothing if it has no channel.
  std::optional<storage::SiteId> OwnerOf(std::string_view page) const;
  bool IsMine(std::string_view page) const;
  // Who had it before the last change that moved channels; nothing if that is
  // over, or if that site is gone.
  std::optional<storage::SiteId> PreviousOwnerOf(std::string_view page) const;

 private:
  const MapView& view_;
};

}  // namespace gannet::federation
