// MapHolder is a site's own copy of the map: the last that it has seen, stored
// on its disk before it is used. A site crawls and exchanges by it, whether or
// not the keeper of the map can be reached. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "federation/map/map_view.h"
#include "storage/clock.h"
#include "storage/mutex.h"

namespace gannet::federation {

class MapHolder {
 public:
  // Puts the map's bytes on the disk, synced.
  using Keep = std::function<absl::Status(const Map&)>;

  // `self` is this site's name. `clock` must outlive this.
  MapHolder(std::string self, Keep keep, storage::Clock& clock);

  // As it was kept, when the site is opened. kDataLoss if it cannot be read.
  absl::Status Load(const std::string& bytes) ABSL_LOCKS_EXCLUDED(mu_);

  // Null until there is one: the site is in no federation.
  std::shared_ptr<const MapView> view() const ABSL_LOCKS_EXCLUDED(mu_);

  // Takes a map if it is newer than the one it has; an older one, or the same,
  // changes nothing and is no error. kInvalidArgument: it is not a valid map.
  // kFailedPrecondition: it is of another federation, or the same epoch with
  // other content.
  absl::Status Offer(const Map& map) ABSL_LOCKS_EXCLUDED(offer_mu_, mu_);

  // Waits until the map is another than `known` (which may be null), at most
  // for the timeout. Returns the current one. Whoever sets `stop` calls Wake().
  std::shared_ptr<const MapView> Await(
      const std::shared_ptr<const MapView>& known, absl::Duration at_most,
      const std::atomic<bool>& stop) const ABSL_LOCKS_EXCLUDED(mu_);
  // Those who wait look at their `stop`.
  void Wake() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const std::string self_;
  const Keep keep_;
  storage::Clock& clock_;
  // One map at a time is put on the disk, while others read the one before.
  storage::Mutex offer_mu_;
  mutable storage::Mutex mu_;
  mutable storage::Condition changed_;
  std::shared_ptr<const MapView> view_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::federation
