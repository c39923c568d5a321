// A tag's name and attributes, as the HTML standard's tokenizer reads them
// (13.2.5.8 and .32 to .40), on raw bytes. Functions only; safe from any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gannet::jobs {

// 0 ends a name; otherwise the byte in lower case. NUL is part of a name (it
// becomes U+FFFD), but of none that we know.
constexpr std::array<uint8_t, 256> MakeNameBytes() {
  std::array<uint8_t, 256> table{};
  for (int c = 0; c < 256; ++c) {
    const bool upper = c >= 'A' && c <= 'Z';
    table[c] = static_cast<uint8_t>(upper ? c | 0x20 : c);
  }
  table[0] = 0xFF;
  for (const char c : {' ', '\t', '\n', '\f', '\r', '/', '>'}) {
    table[static_cast<uint8_t>(c)] = 0;
  }
  return table;
}
inline constexpr std::array<uint8_t, 256> kNameBytes = MakeNameBytes();

// A name of up to eight bytes as a number, in lower case; longer ones are
// kLongName. No name packs to 0.
using PackedName = uint64_t;
inline constexpr PackedName kLongName = ~PackedName{0};

constexpr PackedName Pack(std::string_view name) {
  if (name.size() > sizeof(PackedName)) return kLongName;
  PackedName packed = 0;
  for (const char c : name) {
    packed = packed << 8 | kNameBytes[static_cast<uint8_t>(c)];
  }
  return packed;
}

inline bool IsTagBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}
inline bool IsTagLetter(char c) {
  return static_cast<uint8_t>((c | 0x20) - 'a') < 26;
}

// Moves `at` past a tag's name. REQUIRES: at < end.
inline PackedName ReadTagName(const char*& at, const char* end) {
  const char* const begin = at;
  PackedName packed = 0;
  for (; at < end; ++at) {
    const uint8_t byte = kNameBytes[static_cast<uint8_t>(*at)];
    if (byte == 0) break;
    packed = packed << 8 | byte;
  }
  return at - begin > static_cast<ptrdiff_t>(sizeof(PackedName)) ? kLongName
                                                                 : packed;
}

enum class TagEnd { kOpen, kSelfClosing, kEndOfFile };

// Reads attributes from behind a tag's name to its '>', and moves `at` past
// that. Calls take(PackedName, name as written, raw value) for each, doubles
// included; an attribute without a value has an empty one, never a null one.
template <typename Take>
inline TagEnd ReadAttributes(const char*& at, const char* const end,
                             Take take) {
  while (true) {
    bool slash = false;
    while (at < end && (IsTagBlank(*at) || *at == '/')) {
      slash = *at == '/';
      ++at;
    }
    if (at == end) return TagEnd::kEndOfFile;
    if (*at == '>') {
      ++at;
      return slash ? TagEnd::kSelfClosing : TagEnd::kOpen;
    }
    // The name; a '=' at its very beginning belongs to it.
    const char* const begin = at;
    PackedName packed = kNameBytes[static_cast<uint8_t>(*at++)];
    for (; at < end && *at != '='; ++at) {
      const uint8_t byte = kNameBytes[static_cast<uint8_t>(*at)];
      if (byte == 0) break;
      packed = packed << 8 | byte;
    }
    if (at - begin > static_cast<ptrdiff_t>(sizeof(PackedName))) {
      packed = kLongName;
    }
    const std::string_view name(begin, static_cast<size_t>(at - begin));
    while (at < end && IsTagBlank(*at)) ++at;
    if (at == end) return TagEnd::kEndOfFile;
    if (*at != '=') {
      take(packed, name, std::string_view(at, 0));
      continue;
    }
    ++at;
    while (at < end && IsTagBlank(*at)) ++at;
    if (at == end) return TagEnd::kEndOfFile;
    const char quote = *at;
    if (quote == '"' || quote == '\'') {
      ++at;
      const auto* close = static_cast<const char*>(
          memchr(at, quote, static_cast<size_t>(end - at)));
      if (close == nullptr) {
        at = end;
        return TagEnd::kEndOfFile;
      }
      take(packed, name, std::string_view(at, static_cast<size_t>(close - at)));
      at = close + 1;
      continue;
    }
    const char* const value = at;
    while (at < end && *at != '>' && !IsTagBlank(*at)) ++at;
    if (at == end) return TagEnd::kEndOfFile;
    take(packed, name,
         std::string_view(value, static_cast<size_t>(at - value)));
    if (*at == '>') {
      // The slash of <a href=/x/> is part of the value.
      ++at;
      return TagEnd::kOpen;
    }
  }
}

}  // namespace gannet::jobs
