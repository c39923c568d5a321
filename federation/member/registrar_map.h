// RegistrarMap keeps the map with one of the sites, the registrar that the map
// names: every change is a compare-and-swap there, in the registrar's own crawl
// DB. The others need it to change the map, never to crawl. A site that adopts
// the role does so in a new term, and of two maps the one of the higher term is
// newer. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "federation/map/map_holder.h"
#include "federation/map/map_keeper.h"
#include "federation/peers/peer_client.h"
#include "storage/mutex.h"

namespace gannet::federation {

struct RegistrarMapParts {
  // Null if it cannot be reached from here.
  std::function<std::shared_ptr<PeerClient>(const proto::MapSite&)> client_of;
  std::function<absl::StatusOr<peers::Greeting>()> greeting;
  std::function<uint64_t()> incarnation;  // This site's.
  // As the registrar: asks all neighbours whether they know a newer map, and
  // takes it over. A registrar restored from a backup has an old one.
  std::function<void()> ask_neighbours;
};

class RegistrarMap : public MapKeeper {
 public:
  // `maps` must outlive it.
  RegistrarMap(MapHolder& maps, RegistrarMapParts parts);

  absl::StatusOr<Map> Get() override;
  absl::Status CompareAndSwap(const Map& expected, const Map& next) override;
  absl::StatusOr<Map> Watch(const Map& known, absl::Duration at_most) override;

  // As the registrar, for another site. Returns the map that there is then.
  // kFailedPrecondition: another site is the registrar; or this one was
  // restored, and has not joined again: then it takes nothing but that.
  // kAborted: the map is no longer the one that the caller changed.
  absl::StatusOr<Map> ReplaceMap(uint64_t expected_term,
                                 uint64_t expected_epoch, const Map& next)
      ABSL_LOCKS_EXCLUDED(take_mu_);

 private:
  // kUnavailable, kFailedPrecondition: there is none to be asked.
  absl::StatusOr<std::shared_ptr<PeerClient>> Registrar(const MapView& view);

  MapHolder& maps_;
  const RegistrarMapParts parts_;
  storage::Mutex take_mu_;  // One change at a time.
};

}  // namespace gannet::federation
