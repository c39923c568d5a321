// A 128-bit hash that stands for a key in memory: 16 bytes, whatever the URL's
// length. Two of a million keys share one with a chance below 10^-26, and an
// attacker cannot construct two that do, because the seed is drawn anew in each
// process. Private to this room; never stored.
#pragma once

#include <random>
#include <string_view>

#include "absl/numeric/int128.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gannet::storage {

inline absl::uint128 Hash128(std::string_view key, uint64_t with = 0) {
  static const uint64_t process_seed =
      uint64_t{std::random_device()()} << 32 | std::random_device()();
  const XXH128_hash_t hash =
      XXH3_128bits_withSeed(key.data(), key.size(), process_seed ^ with);
  return absl::MakeUint128(hash.high64, hash.low64);
}

}  // namespace gannet::storage
