// A 128-bit hash that stands for a key in memory: 16 bytes, whatever the URL's
// length. Two of a million keys share one with a chance below 10^-26. Private
// to this room; never stored.
#pragma once

#include <string_view>

#include "absl/numeric/int128.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gannet::storage {

inline absl::uint128 Hash128(std::string_view key, uint64_t seed = 0) {
  const XXH128_hash_t hash =
      XXH3_128bits_withSeed(key.data(), key.size(), seed);
  return absl::MakeUint128(hash.high64, hash.low64);
}

}  // namespace gannet::storage
