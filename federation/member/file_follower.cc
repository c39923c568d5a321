#include "federation/member/file_follower.h"

#include "federation/map/file_map.h"
#include "federation/member/random64.h"

namespace gannet::federation {

std::string FileFollower::Step() {
  const absl::StatusOr<Map> map = ReadMapFile(path_);
  absl::Status status = map.status();
  if (status.ok()) status = own_.maps.Offer(*map);
  if (!status.ok()) return std::string(status.message());
  const auto view = own_.maps.view();
  if (own_.IsIn(*view)) {
    own_.life.OnInMap();
    return RulesProblem(*view);
  }
  if (view->self() != nullptr) {
    return "the map knows another incarnation of this site: 'gannet federation "
           "join' here prints the map with this one";
  }
  if (FindSite(view->map(), own_.self.name) != nullptr) {
    return "this site is invited: 'gannet federation join' here prints the map "
           "with this site in it";
  }
  return HowToReturn(*view,
                     "'gannet federation join' here, which prints the map with "
                     "this site in it");
}

absl::StatusOr<Map> FileFollower::Change(const MapChange& change) {
  absl::StatusOr<Map> map = ReadMapFile(path_);
  if (!map.ok()) return map;
  if (IsHandingOff(*map)) {
    // Only this change can end the hand-off.
    const auto view = own_.maps.view();
    if (view != nullptr && is_handed_off_(*view)) map = FinishHandOff(*map);
  }
  if (!map.ok()) return map;
  return change(*map);
}

absl::StatusOr<Map> FileFollower::Join(const std::string&) {
  if (const auto view = own_.maps.view();
      view != nullptr && view->self() == nullptr) {
    if (absl::Status s = own_.life.BeReborn(); !s.ok()) return s;
  }
  const Applicant self = own_.AsApplicant();
  const absl::StatusOr<Map> map = ReadMapFile(path_);
  if (absl::IsNotFound(map.status())) {
    return FoundFederation(self, Random64(), {}, /*is_registrar=*/false);
  }
  if (!map.ok()) return map;
  const proto::MapSite* known = FindSite(*map, self.name);
  const uint64_t replaces = known == nullptr ? 0 : known->incarnation();
  return Change(
      [&](const Map& now) { return federation::Join(now, self, replaces); });
}

absl::StatusOr<Map> FileFollower::Adopt() {
  return absl::FailedPreconditionError(
      "this federation's map is a file: there is no registrar");
}

}  // namespace gannet::federation
