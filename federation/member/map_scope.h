// MapScope brings what this site crawls to what the map says: in a federation
// the scope is a rule of the map. Used by one thread.
#pragma once

#include <memory>

#include "federation/map/map_view.h"
#include "federation/member/own_site.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::federation {

class MapScope {
 public:
  // Both must outlive this.
  MapScope(storage::CrawlDb& crawl_db, const NoteEvent& note)
      : crawl_db_(crawl_db), note_(note) {}

  // Cheap for the view of the last call, unless that failed: then again.
  void Apply(const std::shared_ptr<const MapView>& view);

 private:
  absl::Status ApplyRules(const proto::MapRules& rules);

  storage::CrawlDb& crawl_db_;
  const NoteEvent& note_;
  std::shared_ptr<const MapView> applied_;
};

}  // namespace gannet::federation
