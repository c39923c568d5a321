// Placement is the seam behind which a federation decides who crawls what
// (DESIGN.md, section 8): a running site and the simulator ask the same
// classes. An object is made from one epoch's map and never changes; a new
// epoch brings a new object.
//
// Implementations are thread-safe: both questions may be asked from any thread.
#pragma once

#include "federation/placement/channel.h"
#include "storage/crawl_db/keys.h"

namespace gannet::federation {

class Placement {
 public:
  virtual ~Placement() = default;

  // Where a URL of the channel goes: to the site that crawls it or, as long as
  // this site knows of no decision, to the channel's home, which forwards it.
  // Always a site of the map.
  virtual storage::SiteId owner(const Channel& channel) const = 0;

  // The site that decides who owns the channel: its place on the hash ring.
  // Needs no state, so no two sites with one map can disagree.
  virtual storage::SiteId home(const Channel& channel) const = 0;
};

}  // namespace gannet::federation
