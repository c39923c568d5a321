// Is the federation quiet? IsQuiet() judges two looks at all sites; QuietWatch
// does it again and again by what beats have brought, which costs no call.
// Update() is used by one thread, everything else by any.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "federation/map/map_view.h"
#include "federation/member/neighbour.h"
#include "storage/clock.h"
#include "storage/mutex.h"

namespace gannet::federation {

// One look at all sites: their conditions, by id.
using Conditions = std::map<uint32_t, peers::Condition>;

// Whether two successive looks (the second began when the first was over) show
// a federation in which nothing goes on: all sites of the map answered, all are
// idle, nothing is on its way, and nothing was between the two.
bool IsQuiet(const Map& map, const Conditions& first, const Conditions& second);

class QuietWatch {
 public:
  // `own`: how this site is doing. `clock` must outlive this.
  QuietWatch(std::function<peers::Condition()> own, storage::Clock& clock)
      : own_(std::move(own)), clock_(clock) {}

  // Judges again, if all have answered since it did so last.
  void Update(const std::shared_ptr<const MapView>& view,
              const NeighbourSnapshots& neighbours) ABSL_LOCKS_EXCLUDED(mu_);

  // As judged last; false for another map than that one's.
  bool IsQuiet(const std::shared_ptr<const MapView>& view) const
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Set(std::shared_ptr<const MapView> view) ABSL_LOCKS_EXCLUDED(mu_);

  const std::function<peers::Condition()> own_;
  storage::Clock& clock_;
  // Update()'s own.
  Conditions last_;
  absl::Time last_ended_ = absl::InfinitePast();  // Steady.

  mutable storage::Mutex mu_;
  // Null: not quiet.
  std::shared_ptr<const MapView> quiet_view_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::federation
