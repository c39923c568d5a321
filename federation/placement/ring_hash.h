// The hash functions of the ring. Every site computes with these who owns
// what, today and in every version that comes: two sites that hash differently
// would both think that the other crawls a domain. Hence no absl::Hash (salted
// in each process), and known values in tests/federation/placement. Never
// change them: a new function is a new placement with a new name.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "storage/crawl_db/keys.h"

namespace gannet::federation {

// The step and the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast
// splittable pseudorandom number generators", 2014).
inline constexpr uint64_t kSplitMixStep = 0x9e3779b97f4a7c15;
constexpr uint64_t SplitMix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// XXH3, 64 bits, with the map's seed (its output is fixed since xxHash 0.8.0).
uint64_t HashOfChannel(std::string_view name, uint64_t seed);

// Where virtual node `index` of a site stands. By id, not by name: a site that
// is renamed keeps its channels.
constexpr uint64_t PositionOfVirtualNode(storage::SiteId site, uint32_t index,
                                         uint64_t seed) {
  const uint64_t of_map = SplitMix(seed + kSplitMixStep);
  const uint64_t of_site =
      SplitMix((of_map ^ static_cast<uint32_t>(site)) + kSplitMixStep);
  return SplitMix((of_site ^ index) + kSplitMixStep);
}

}  // namespace gannet::federation
