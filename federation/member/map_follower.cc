#include "federation/member/map_follower.h"

#include <fmt/format.h>

namespace gannet::federation {
namespace {

// A note in the crawl DB. On disk: never change it.
constexpr char kMapNote[] = "map";

// Whether another site is back that had been removed. Only the map of another
// term can do that: its registrar did not know of the removal.
bool UndoesARemoval(const Map& before, const Map& after,
                    std::string_view self) {
  for (const proto::MapSite& site : after.sites()) {
    if (IsActive(site) && site.name() != self &&
        site.id() <= before.last_site_id() &&
        FindSite(before, site.id()) == nullptr) {
      return true;
    }
  }
  return false;
}

}  // namespace

absl::Status MapFollower::Load() {
  const auto map = own_.crawl_db.records().GetNote(kMapNote);
  absl::Status status = map.status();
  if (status.ok()) status = own_.maps.Load(*map);
  if (!status.ok() && !absl::IsNotFound(map.status())) return status;
  return losses_.Load();
}

absl::Status MapFollower::Keep(const Map& map) {
  if (const auto before = own_.maps.view()) {
    const std::string& self = own_.self.name;
    absl::Status s = losses_.Add(before->map(), map, self);
    if (!s.ok()) return s;
    // The batches for that site were taken back and their numbers forgotten,
    // though it may have received some of them. So this site takes a new
    // incarnation, for which numbers begin anew.
    if (UndoesARemoval(before->map(), map, self)) {
      if (s = own_.life.BeReborn(); !s.ok()) return s;
      own_.note("removal_undone", {{"epoch", std::to_string(map.epoch())}});
    }
  }
  return own_.crawl_db.records().PutNote(kMapNote, map.SerializeAsString());
}

std::string MapFollower::RulesProblem(const MapView& view) const {
  const absl::Status status = CheckRules(view.map().rules(), own_.self.rules);
  if (status.ok()) return "";
  return std::string(status.message()) +
         "; it begins no round until they are the same";
}

std::string MapFollower::HowToReturn(const MapView& view,
                                     const std::string& then) const {
  return fmt::format(
      "this site is not in the map of epoch {}: it was removed, or it left. If "
      "it is to stay out, stop it. If it is to come back: 'gannet federation "
      "invite {}' at a site of the federation, then {}",
      view.map().epoch(), own_.self.name, then);
}

}  // namespace gannet::federation
