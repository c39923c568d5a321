// Numbers on the wire: seven bits a byte, the lowest first, the upper bit set
// in all but the last (as protobuf has them). Each number has one spelling
// only: what is longer than it need be is refused, so that equal batches are
// equal bytes. Functions only; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gannet::federation {

inline void AppendVarint(uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

// Takes a number from the front of `bytes`. False if there is none: cut off,
// above `most`, or spelled too long.
inline bool TakeVarint(std::string_view& bytes, uint64_t most,
                       uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const uint64_t byte = static_cast<uint8_t>(bytes[i]);
    if (i == 9 && byte > 1) return false;  // Above 64 bits.
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      if (value > most || (byte == 0 && i > 0)) return false;
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace gannet::federation
