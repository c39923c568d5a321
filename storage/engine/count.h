// A counter as the value of a row: a little-endian int64. Stored on disk.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace gannet::storage {

inline std::string EncodeCount(int64_t count) {
  std::string bytes(sizeof(count), '\0');
  std::memcpy(bytes.data(), &count, sizeof(count));
  return bytes;
}

// Zero if the bytes are no counter.
inline int64_t DecodeCount(std::string_view bytes) {
  int64_t count = 0;
  if (bytes.size() == sizeof(count)) {
    std::memcpy(&count, bytes.data(), sizeof(count));
  }
  return count;
}

}  // namespace gannet::storage
