// HashRing maps the hash of a channel to a site: consistent hashing (Karger et
// al. 1997) with virtual nodes, as many for a site as its capacity asks for.
//
// The simple idea: the numbers of 64 bits form a ring, every virtual node
// stands at a place that depends on its own site only, and a channel belongs
// to the first virtual node that follows the channel's own place. A site that
// comes takes channels from the others and moves none between them; one that
// goes gives up its own and no other's.
//
// What that leaves out: the gaps between n random points are very uneven, so
// that with v virtual nodes the loads of equal sites vary by 1/sqrt(v): 7.1 %
// with 200. More of them would cost memory. Instead a channel has *three*
// places on the ring, and belongs to the virtual node that follows one of them
// most closely (multi-probe consistent hashing, Appleton and O'Reilly, 2015).
// The closest of all pairs (place, virtual node) is still a choice that
// another virtual node can only win for itself, so all of the above holds; but
// a node behind a wide gap gains little from the gap's far end. A node's share
// with k places is k/(k-1) (1 - e^-(k-1)g) of the mean for a gap of g mean
// gaps, which varies by 1.00, 0.58, 0.45, 0.33 for k = 1, 2, 3, 5: three
// places bring 200 virtual nodes to 3.2 %.
//
// Looking up: the ring is cut into equal arcs, at least twice as many as
// virtual nodes, and a table says where each begins; the rest is a step, seldom
// two. 20,000 virtual nodes take some 500 KB.
//
// Immutable, so thread-safe. The answer depends on the arguments of Create
// alone, not on the order of `sites`.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "storage/crawl_db/keys.h"

namespace gannet::federation {

// A site's part of the web is as its capacity to that of all others. 1 is an
// ordinary site.
struct SiteCapacity {
  storage::SiteId site{};
  double capacity = 1;
};

// Settings of the map.
struct RingSettings {
  uint32_t virtual_nodes = 200;  // Per unit of capacity.
  uint64_t seed = 0;
};

class HashRing {
 public:
  // Of all sites together; a bound on memory (some 100 MB) and on the time to
  // make a ring.
  static constexpr uint64_t kMostVirtualNodes = 1 << 22;

  // A site has round(capacity * virtual_nodes) virtual nodes, at least one.
  // kInvalidArgument, which says what is wrong: no sites, an id twice, a
  // capacity that is not a positive number, no or too many virtual nodes.
  static absl::StatusOr<HashRing> Create(const RingSettings& settings,
                                         absl::Span<const SiteCapacity> sites);

  // `hash` is HashOfChannel with this ring's seed.
  storage::SiteId SiteOf(uint64_t hash) const;

  uint64_t seed() const { return seed_; }
  size_t virtual_nodes() const { return sites_.size(); }

 private:
  HashRing() = default;
  // Of the first virtual node at or after `place`; sites_.size() if that is
  // behind the last.
  size_t Following(uint64_t place) const;

  uint64_t seed_ = 0;
  // Ascending, and the greatest number once more, so that a search ends.
  std::vector<uint64_t> positions_;
  std::vector<storage::SiteId> sites_;  // Of each position.
  // By the upper bits of a place: the first position in that arc or behind.
  std::vector<uint32_t> arcs_;
  int shift_ = 0;
};

}  // namespace gannet::federation
