// MapBlocks brings this site's own block list to what the map says. It knows
// from a note in the crawl DB which domains it blocked for the map, and touches
// no others. Used by one thread.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "federation/map/map_view.h"
#include "federation/member/own_site.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::federation {

class MapBlocks {
 public:
  // Both must outlive this.
  MapBlocks(storage::CrawlDb& crawl_db, const NoteEvent& note)
      : crawl_db_(crawl_db), note_(note) {}

  // Cheap for the view of the last call, unless that failed: then again.
  void Apply(const std::shared_ptr<const MapView>& view);

 private:
  absl::Status ApplyList(const Map& map);

  storage::CrawlDb& crawl_db_;
  const NoteEvent& note_;
  std::shared_ptr<const MapView> applied_;
};

}  // namespace gannet::federation
