// How sites greet each other: who speaks, which versions of the protocol it
// speaks, and by which map. Functions only; thread-safe.
#pragma once

#include "absl/status/statusor.h"
#include "federation/map/map_view.h"
#include "proto/peers.pb.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::federation {

// Sites of N and N - 1 talk to each other.
inline constexpr uint32_t kProtocol = 1;
inline constexpr uint32_t kOldestProtocol = 1;

// `incarnation` is this site's own, from its crawl DB. kFailedPrecondition: the
// map does not have it, or knows it in another life, so that it has to join.
absl::StatusOr<peers::Greeting> MakeGreeting(const MapView& view,
                                             uint64_t incarnation);

// Who greets, if it is a site of the map in the life that the map knows.
// kUnimplemented: no version in common. kFailedPrecondition: of another
// federation. kPermissionDenied: not in the map; or in another life, which has
// to join first.
absl::StatusOr<storage::Peer> CheckGreeting(const MapView& view,
                                            const peers::Greeting& greeting);

}  // namespace gannet::federation
