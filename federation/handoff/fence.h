// The fence: which hosts a site may crawl while channels move. A host must be
// its own by the current map; and if it was another's before, that site must
// have said that it has moved all it had ("complete"), for until then it may
// have pages of it in an open round. If a second placement change began before
// the first hand-off ended (`in_haste`), nobody can say who has a channel, so
// all sites must have said so, unless the channel was this site's own before.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "federation/map/map_view.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::federation {

// Knows what had been completed when it was made: make a new one for each
// round. A site that is not in the map may crawl nothing.
storage::HostFilter MayCrawl(
    std::shared_ptr<const MapView> view,
    const std::function<uint64_t(const storage::Peer&)>& completed_for);
absl::StatusOr<storage::HostFilter> MayCrawl(
    std::shared_ptr<const MapView> view, storage::CrawlDb& crawl_db);

}  // namespace gannet::federation
