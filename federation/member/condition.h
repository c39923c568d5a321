// How a site is doing, as its neighbours are told (proto/peers.proto,
// Condition), and what follows from the conditions of all: is the federation
// quiet? Functions only; thread-safe.
#pragma once

#include <map>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "federation/map/map_view.h"
#include "proto/peers.pb.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::federation {

// What becomes ready within this is waited for: a site with it is not idle.
inline constexpr absl::Duration kIdleWait = absl::Minutes(10);

// Reads the crawl DB with each call: some look-ups for each neighbour. The
// caller adds what the hand-off knows.
absl::StatusOr<peers::Condition> LookAtCondition(storage::CrawlDb& crawl_db,
                                                 const MapView& view,
                                                 absl::Time now);

// One look at all sites: their conditions, by id.
using Conditions = std::map<uint32_t, peers::Condition>;

// Whether two successive looks (the second began when the first was over) show
// a federation in which nothing goes on: all sites of the map answered, all are
// idle, nothing is on its way, and nothing was between the two.
bool IsQuiet(const Map& map, const Conditions& first, const Conditions& second);

}  // namespace gannet::federation
