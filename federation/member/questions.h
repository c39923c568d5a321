// Questions asks this site and all others the same, side by side, and makes one
// answer of what they say: what a change would move (`federation plan`),
// whether all invariants hold, those between two sites included (`federation
// verify`), and whether nothing goes on at this moment. OwnAnswers is each
// site's half. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "federation/map/map_keeper.h"
#include "federation/member/neighbours.h"
#include "federation/member/own_answers.h"
#include "federation/member/own_site.h"
#include "federation/member/quiet_watch.h"

namespace gannet::federation {

// One check of `federation verify`.
struct FederationCheck : storage::Check {
  // It could not be made: a site did not answer. Nothing is known to be broken.
  bool is_unanswered = false;
};

// What a change of the map would move.
struct Plan {
  Map next;
  std::map<uint32_t, peers::MoveCounts> by_site;
  std::map<uint32_t, std::string> unknown;  // Sites that did not answer.
};

class Questions {
 public:
  // All must outlive this.
  Questions(const OwnSite& own, const OwnAnswers& answers,
            Neighbours& neighbours)
      : own_(own), answers_(answers), neighbours_(neighbours) {}

  absl::StatusOr<Plan> MakePlan(const MapChange& change);
  // Every site checks itself; then what each pair says of the other is
  // compared.
  absl::StatusOr<std::vector<FederationCheck>> VerifyAll(bool full);
  // Two looks at all sites of the map, one after the other.
  bool AreAllQuiet(const Map& map);

 private:
  Conditions AskConditions();
  template <typename Reply>
  std::map<uint32_t, absl::StatusOr<Reply>> AskAll(
      const std::function<absl::StatusOr<Reply>(Neighbour&)>& ask,
      const std::function<absl::StatusOr<Reply>()>& ask_self);

  const OwnSite own_;
  const OwnAnswers& answers_;
  Neighbours& neighbours_;
};

}  // namespace gannet::federation
