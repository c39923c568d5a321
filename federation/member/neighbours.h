// Neighbours is the set of all other sites of the current map, each with its
// beats and its pump: who they are, what was heard of them, and who of them
// knows a newer map. Also whoever is asked to let this site in is called from
// here, so that all calls end when the site stops. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "federation/member/neighbour.h"
#include "federation/peers/peer_client.h"
#include "storage/mutex.h"

namespace gannet::federation {

// What that site says of itself, in the life that the map knows. Null: it is
// not met in that life, or was not heard yet.
const peers::Condition* ConditionOf(const proto::MapSite& site,
                                    const NeighbourSnapshots& neighbours);
// Whether each peer has said that its part of the map's hand-off is done.
bool HaveHandedOff(const MapView& view, const NeighbourSnapshots& neighbours);

class Neighbours {
 public:
  using Set = std::map<uint32_t, std::shared_ptr<Neighbour>>;  // By id.

  // `condition`: how this site is doing.
  Neighbours(const OwnSite& own, std::function<peers::Condition()> condition,
             const NeighbourSettings& settings, Connect connect);

  // Begins with those that the map has, and ends with those that it has no
  // longer. By one thread at a time.
  void Meet(const MapView& view) ABSL_LOCKS_EXCLUDED(mu_);

  Set all() const ABSL_LOCKS_EXCLUDED(mu_);
  // Null: not met (yet).
  std::shared_ptr<Neighbour> Find(uint32_t site) const ABSL_LOCKS_EXCLUDED(mu_);
  NeighbourSnapshots Snapshots() const ABSL_LOCKS_EXCLUDED(mu_);

  // Asks all that can be reached whether they know a newer map, and takes it
  // up. Returns when all have answered, or will not.
  void FetchNewerMap() ABSL_LOCKS_EXCLUDED(mu_);

  // Asks the site there to let this one in; returns the map that it answers
  // with. kCancelled: this site stops.
  absl::StatusOr<Map> AskToJoin(const std::string& address,
                                const std::string& name,
                                const peers::JoinRequest& request)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Ends all calls under way, and new ones of AskToJoin().
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_);
  // Forgets all, and returns when their threads have ended.
  void End() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const OwnSite own_;
  const std::function<peers::Condition()> condition_;
  NeighbourSettings settings_;
  const Connect connect_;
  const absl::Time started_;  // Steady.
  mutable storage::Mutex mu_;
  Set set_ ABSL_GUARDED_BY(mu_);
  bool is_cancelled_ ABSL_GUARDED_BY(mu_) = false;
  // At which it is asking to be let in: by the watch, and by operators.
  std::set<std::shared_ptr<PeerClient>> doors_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::federation
