// A random number that identifies a federation or a process. A function;
// thread-safe.
#pragma once

#include <cstdint>
#include <random>

namespace gannet::federation {

inline uint64_t Random64() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

}  // namespace gannet::federation
