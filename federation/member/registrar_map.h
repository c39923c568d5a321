// RegistrarMap keeps the map with one of the sites, the registrar that the map
// names: every change is a compare-and-swap there, in the registrar's own crawl
// DB. The others need it to change the map, never to crawl. A site that adopts
// the role does so in a new term, and of two maps the one of the higher term is
// newer. Thread-safe.
#pragma once

#include <memory>

#include "federation/map/map_keeper.h"
#include "federation/member/neighbours.h"
#include "federation/member/own_site.h"
#include "federation/peers/peer_client.h"
#include "storage/mutex.h"

namespace gannet::federation {

class RegistrarMap : public MapKeeper {
 public:
  // `neighbours` must outlive it. A registrar asks them for a newer map first:
  // restored from a backup, it has an old one.
  RegistrarMap(const OwnSite& own, Neighbours& neighbours)
      : own_(own), neighbours_(neighbours) {}

  absl::StatusOr<Map> Get() override;
  absl::Status CompareAndSwap(const Map& expected, const Map& next) override;

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

  const OwnSite own_;
  Neighbours& neighbours_;
  storage::Mutex take_mu_;  // One change at a time.
};

}  // namespace gannet::federation
