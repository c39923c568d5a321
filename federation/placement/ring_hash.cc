#include "federation/placement/ring_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gannet::federation {

uint64_t HashOfChannel(std::string_view name, uint64_t seed) {
  return XXH3_64bits_withSeed(name.data(), name.size(), seed);
}

}  // namespace gannet::federation
