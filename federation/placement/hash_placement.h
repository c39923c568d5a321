// HashPlacement gives every channel to its home, its place on the hash ring
// (UbiCrawler, UniCrawl III-B). Knows nothing of distance; needs no state, no
// probes and no decisions, and is what a federation starts with.
//
// Immutable, so thread-safe.
#pragma once

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "federation/placement/hash_ring.h"
#include "federation/placement/placement.h"

namespace gannet::federation {

class HashPlacement final : public Placement {
 public:
  // kInvalidArgument as HashRing::Create.
  static absl::StatusOr<std::unique_ptr<HashPlacement>> Create(
      const RingSettings& settings, absl::Span<const SiteCapacity> sites);

  storage::SiteId owner(const Channel& channel) const override;
  storage::SiteId home(const Channel& channel) const override;

 private:
  explicit HashPlacement(HashRing ring) : ring_(std::move(ring)) {}

  const HashRing ring_;
};

}  // namespace gannet::federation
