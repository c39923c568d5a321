#include "federation/placement/hash_placement.h"

#include <utility>

#include "absl/memory/memory.h"
#include "federation/placement/ring_hash.h"

namespace gannet::federation {

absl::StatusOr<std::unique_ptr<HashPlacement>> HashPlacement::Create(
    const RingSettings& settings, absl::Span<const SiteCapacity> sites) {
  absl::StatusOr<HashRing> ring = HashRing::Create(settings, sites);
  if (!ring.ok()) return ring.status();
  return absl::WrapUnique(new HashPlacement(*std::move(ring)));
}

storage::SiteId HashPlacement::owner(const Channel& channel) const {
  return home(channel);
}

storage::SiteId HashPlacement::home(const Channel& channel) const {
  return ring_.SiteOf(HashOfChannel(channel.name, ring_.seed()));
}

}  // namespace gannet::federation
