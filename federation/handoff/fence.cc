#include "federation/handoff/fence.h"

#include <set>
#include <utility>

#include "federation/ownership/ownership.h"

namespace gannet::federation {

storage::HostFilter MayCrawl(
    std::shared_ptr<const MapView> view,
    const std::function<uint64_t(const storage::Peer&)>& completed_for) {
  if (view->self() == nullptr) return [](std::string_view) { return false; };
  std::set<storage::SiteId> completed;
  if (IsHandingOff(view->map())) {
    for (const proto::MapSite* peer : view->peers()) {
      const storage::SiteId site{peer->id()};
      if (completed_for({site, peer->incarnation()}) >=
          PlacedStamp(view->map())) {
        completed.insert(site);
      }
    }
  }
  const bool all = completed.size() == view->peers().size();
  return [view = std::move(view), completed = std::move(completed),
          all](std::string_view host) {
    const Ownership ownership(*view);
    if (!ownership.IsMine(host)) return false;
    if (all || !IsHandingOff(view->map())) return true;
    const std::optional<storage::SiteId> before =
        ownership.PreviousOwnerOf(host);
    if (before == storage::SiteId{view->self()->id()}) return true;
    if (view->map().in_haste()) return false;
    return !before.has_value() || completed.contains(*before);
  };
}

absl::StatusOr<storage::HostFilter> MayCrawl(
    std::shared_ptr<const MapView> view, storage::CrawlDb& crawl_db) {
  absl::Status status;
  storage::HostFilter filter =
      MayCrawl(std::move(view), [&](const storage::Peer& peer) -> uint64_t {
        absl::StatusOr<uint64_t> epoch =
            crawl_db.incoming().completed_for(peer);
        if (!epoch.ok()) {
          status = epoch.status();
          return 0;
        }
        return *epoch;
      });
  if (!status.ok()) return status;
  return filter;
}

}  // namespace gannet::federation
