// FileFollower follows a map in a file, which the administrator copies to every
// site: it reads it, and makes the next one, which is printed. Nobody but the
// administrator changes it, so no site can be let in, or end a hand-off, by
// itself: the next map that is printed does.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "federation/member/map_follower.h"

namespace gannet::federation {

class FileFollower : public MapFollower {
 public:
  // `is_handed_off`: every site has done its part of that map's hand-off.
  FileFollower(const OwnSite& own, Losses& losses, const std::string& path,
               std::function<bool(const MapView&)> is_handed_off)
      : MapFollower(own, losses),
        path_(path),
        is_handed_off_(std::move(is_handed_off)) {}

  std::string Step() override;
  absl::StatusOr<Map> Change(const MapChange& change) override;
  // The first map, if there is none yet.
  absl::StatusOr<Map> Join(const std::string& address) override;
  // kFailedPrecondition.
  absl::StatusOr<Map> Adopt() override;

 private:
  const std::string path_;
  const std::function<bool(const MapView&)> is_handed_off_;
};

}  // namespace gannet::federation
