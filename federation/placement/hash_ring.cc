#include "federation/placement/hash_ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "federation/placement/ring_hash.h"

namespace gannet::federation {
namespace {

using storage::SiteId;

// Never change it: owners depend on it.
constexpr int kPlaces = 3;

absl::Status Wrong(std::string message) {
  return absl::InvalidArgumentError(std::move(message));
}

// How many virtual nodes the site has. One multiplication and one rounding,
// both exact by IEEE 754: the same on every machine.
absl::StatusOr<uint64_t> VirtualNodesOf(const SiteCapacity& site,
                                        const RingSettings& settings) {
  const auto id = static_cast<uint32_t>(site.site);
  if (!std::isfinite(site.capacity) || site.capacity <= 0) {
    return Wrong(fmt::format("site {}: capacity {} is not a positive number",
                             id, site.capacity));
  }
  const double nodes = std::round(site.capacity * settings.virtual_nodes);
  if (nodes > static_cast<double>(HashRing::kMostVirtualNodes)) {
    return Wrong(fmt::format(
        "site {}: capacity {} with {} virtual nodes each is more than {}", id,
        site.capacity, settings.virtual_nodes, HashRing::kMostVirtualNodes));
  }
  return std::max<uint64_t>(1, static_cast<uint64_t>(nodes));
}

}  // namespace

absl::StatusOr<HashRing> HashRing::Create(
    const RingSettings& settings, absl::Span<const SiteCapacity> sites) {
  if (sites.empty()) return Wrong("a hash ring needs at least one site");
  if (settings.virtual_nodes == 0) {
    return Wrong("a hash ring needs at least one virtual node a site");
  }
  absl::flat_hash_set<uint32_t> ids;
  std::vector<std::pair<uint64_t, SiteId>> nodes;
  for (const SiteCapacity& site : sites) {
    if (!ids.insert(static_cast<uint32_t>(site.site)).second) {
      return Wrong(fmt::format("site {} is there twice",
                               static_cast<uint32_t>(site.site)));
    }
    const absl::StatusOr<uint64_t> count = VirtualNodesOf(site, settings);
    if (!count.ok()) return count.status();
    if (nodes.size() + *count > kMostVirtualNodes) {
      return Wrong(
          fmt::format("more than {} virtual nodes in all", kMostVirtualNodes));
    }
    for (uint32_t i = 0; i < *count; ++i) {
      nodes.emplace_back(PositionOfVirtualNode(site.site, i, settings.seed),
                         site.site);
    }
  }
  // Of two at one place the one of the lower id comes first and is the one
  // that counts, whatever the order of `sites`.
  std::sort(nodes.begin(), nodes.end());

  HashRing ring;
  ring.seed_ = settings.seed;
  ring.positions_.reserve(nodes.size() + 1);
  ring.sites_.reserve(nodes.size());
  for (const auto& [position, site] : nodes) {
    ring.positions_.push_back(position);
    ring.sites_.push_back(site);
  }
  ring.positions_.push_back(std::numeric_limits<uint64_t>::max());

  // Never fewer than two: a shift by 64 would be undefined.
  const uint64_t arcs = std::bit_ceil(2 * nodes.size());
  ring.shift_ = 64 - std::countr_zero(arcs);
  ring.arcs_.reserve(arcs);
  uint32_t at = 0;
  for (uint64_t arc = 0; arc < arcs; ++arc) {
    while (at < nodes.size() && nodes[at].first < arc << ring.shift_) ++at;
    ring.arcs_.push_back(at);
  }
  return ring;
}

size_t HashRing::Following(uint64_t place) const {
  size_t at = arcs_[place >> shift_];
  while (positions_[at] < place) ++at;
  return at;
}

SiteId HashRing::SiteOf(uint64_t hash) const {
  size_t closest = 0;
  uint64_t least = 0;
  for (int i = 0; i < kPlaces; ++i) {
    hash += kSplitMixStep;
    const uint64_t place = SplitMix(hash);
    size_t at = Following(place);
    if (at == sites_.size()) at = 0;  // Around the ring.
    const uint64_t distance = positions_[at] - place;
    if (i == 0 || distance < least) {
      least = distance;
      closest = at;
    }
  }
  return sites_[closest];
}

}  // namespace gannet::federation
