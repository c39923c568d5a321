// Percent-encoding as browsers do it: which bytes each part of a URL must not
// hold raw, and how bytes that are not UTF-8 become U+FFFD on the way.
// (https://url.spec.whatwg.org/#percent-encoded-bytes and the Encoding
// Standard's UTF-8 decoder.) Table-driven, because every byte of every link
// passes here. Functions only; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gannet::storage {

// Bits of kByteClass. The first four are the standard's percent-encode sets;
// bytes from 0x80 on are in all of them.
enum ByteClass : uint8_t {
  kEncodeInFragment = 1 << 0,
  kEncodeInQuery = 1 << 1,  // The "special-query" set: http and https only.
  kEncodeInPath = 1 << 2,
  kEncodeInUserinfo = 1 << 3,
  kUnreserved = 1 << 4,  // RFC 3986, 2.3: the same encoded or not.
  kHexDigit = 1 << 5,
  kStripped = 1 << 6,     // Tab and newlines: removed wherever they stand.
  kPathSpecial = 1 << 7,  // Ends or bends a path: ? # and backslash.
};

constexpr std::array<uint8_t, 256> MakeByteClasses() {
  std::array<uint8_t, 256> table{};
  const auto add = [&table](std::string_view bytes, int bits) {
    for (const char c : bytes) {
      auto& entry = table[static_cast<uint8_t>(c)];
      entry = static_cast<uint8_t>(entry | bits);
    }
  };
  constexpr int kAllSets =
      kEncodeInFragment | kEncodeInQuery | kEncodeInPath | kEncodeInUserinfo;
  for (int c = 0; c < 256; ++c) {
    if (c <= 0x20 || c >= 0x7F) table[c] = kAllSets;
  }
  add("\"<>", kAllSets);
  add("`", kEncodeInFragment | kEncodeInPath | kEncodeInUserinfo);
  add("#", kEncodeInQuery | kEncodeInPath | kEncodeInUserinfo);
  add("'", kEncodeInQuery);
  add("?^{}", kEncodeInPath | kEncodeInUserinfo);
  add("/:;=@[\\]|", kEncodeInUserinfo);
  add("0123456789abcdefABCDEF", kHexDigit);
  add("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~",
      kUnreserved);
  add("\t\n\r", kStripped);
  add("?#\\", kPathSpecial);
  return table;
}

inline constexpr std::array<uint8_t, 256> kByteClass = MakeByteClasses();

inline uint8_t ClassOf(char c) { return kByteClass[static_cast<uint8_t>(c)]; }
inline bool IsHexDigit(char c) { return ClassOf(c) & kHexDigit; }
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsAlpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
inline char ToLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}
// REQUIRES: IsHexDigit(c).
inline int HexValue(char c) {
  return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

inline constexpr char32_t kReplacement = 0xFFFD;

// Reads one code point at `in[pos]` and moves `pos` past it. What is not UTF-8
// reads as kReplacement, one for each maximal bad piece, as browsers count.
// REQUIRES: pos < in.size().
char32_t NextCodePoint(std::string_view in, size_t& pos);

void AppendUtf8(char32_t code_point, std::string& out);

// True if `bytes` is UTF-8.
bool IsUtf8(std::string_view bytes);

// Appends `c` as %XX.
void AppendPercentByte(uint8_t byte, std::string& out);

// Appends `in`, encoding what `set` (one kEncodeIn... bit) forbids.
void AppendEncoded(std::string_view in, ByteClass set, std::string& out);

// Appends `in` with every %XX turned into its byte.
void AppendDecoded(std::string_view in, std::string& out);

}  // namespace gannet::storage
