// The fake web's only source of chance: hashes of numbers. A page's words,
// links and faults are hashes of (seed, host, page), so that every page can be
// made by itself, in any order, by any thread, and is the same each time. There
// is no random generator with a state. Thread-safe (pure functions).
#pragma once

#include <cstdint>

namespace gannet::fake_web {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
inline uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
inline uint64_t Mix(uint64_t a, uint64_t b) { return Mix(Mix(a) ^ b); }
inline uint64_t Mix(uint64_t a, uint64_t b, uint64_t c) {
  return Mix(Mix(a, b) ^ c);
}

// A number in [0, 1).
inline double Unit(uint64_t hash) {
  return static_cast<double>(hash >> 11) * 0x1.0p-53;
}

// A number in [0, n); 0 if n is 0. Uses the upper bits, so that the lower ones
// of the same hash can serve for another choice.
inline uint32_t Below(uint64_t hash, uint32_t n) {
  return static_cast<uint32_t>(((hash >> 32) * n) >> 32);
}

}  // namespace gannet::fake_web
