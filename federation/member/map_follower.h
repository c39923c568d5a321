// MapFollower keeps this site in its federation: it has the newest map, and is
// in it. What that takes depends on where the federation keeps its map, so
// there is one class for each such place (map/map_keeper.h): FileFollower, and
// RegistrarFollower; one for etcd would be the third. Thread-safe, but for
// Load() and Step(), which one thread at a time calls.
#pragma once

#include <string>

#include "federation/map/map_keeper.h"
#include "federation/member/losses.h"
#include "federation/member/own_site.h"

namespace gannet::federation {

class MapFollower {
 public:
  virtual ~MapFollower() = default;

  // The map and the losses, as they were kept when the site last ran.
  absl::Status Load();
  // Puts a map on this site's disk, before it is used (MapHolder::Keep); first
  // of all what others may have lost, as it tells.
  absl::Status Keep(const Map& map);

  // Does what is to be done now. The watch calls it again and again. Returns
  // why this site is no working member, in words that do not change while the
  // reason does not; "" if it is one.
  virtual std::string Step() = 0;

  // The rest is for administrators. All return the next map: this site has it
  // already, unless the administrator is to copy it.
  virtual absl::StatusOr<Map> Change(const MapChange& change) = 0;
  // Gets this site into the map, now. `address` is a site to ask; empty: the
  // one that the settings name, or any. Of a map that is a file: the first one,
  // if there is none yet.
  virtual absl::StatusOr<Map> Join(const std::string& address) = 0;
  // Makes this site the registrar.
  virtual absl::StatusOr<Map> Adopt() = 0;

 protected:
  // `losses` must outlive it.
  MapFollower(const OwnSite& own, Losses& losses)
      : own_(own), losses_(losses) {}

  // Why a site of the map begins no round: its rules may have changed since it
  // joined, by its settings or with a new list of public suffixes.
  std::string RulesProblem(const MapView& view) const;
  // What an administrator should do about a site that is neither in the map nor
  // invited. `then`: how it joins once it is invited.
  std::string HowToReturn(const MapView& view, const std::string& then) const;

  const OwnSite own_;

 private:
  Losses& losses_;
};

}  // namespace gannet::federation
