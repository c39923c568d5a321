#include "sites/console/terminal_text.h"

#include <fmt/format.h>

#include <cstdint>

namespace gannet::sites {
namespace {

// The code point at the front of `text` and its length; 0 bytes if that is not
// UTF-8 (overlong, surrogate, cut off).
struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;
};

CodePoint First(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return {};
  uint32_t value = byte(0) & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLeast[bytes] || value > 0x10ffff || surrogate) return {};
  return {value, bytes};
}

bool IsHostile(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) ||      // Controls.
         c == 0x61c || c == 0x200e || c == 0x200f ||  // Directional marks,
         (c >= 0x2028 && c <= 0x202e) ||  // line separators, overrides,
         (c >= 0x2066 && c <= 0x2069) ||  // isolates,
         c == 0xfeff;                     // an invisible space.
}

std::string Escaped(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = First(text);
    if (c.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (!IsHostile(c.value) || (keep_lines && c.value == '\n')) {
      out += text.substr(0, c.bytes);
    } else if (c.value == '\n') {
      out += "\\n";
    } else if (c.value == '\r') {
      out += "\\r";
    } else if (c.value == '\t') {
      out += "\\t";
    } else if (c.value < 0x80) {
      out += fmt::format("\\x{:02x}", c.value);
    } else {
      out += fmt::format("\\u{{{:x}}}", c.value);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace

std::string ForTerminal(std::string_view text) { return Escaped(text, false); }

std::string LinesForTerminal(std::string_view text) {
  return Escaped(text, true);
}

size_t DisplayWidth(std::string_view utf8) {
  size_t width = 0;
  for (const char c : utf8) width += (static_cast<uint8_t>(c) & 0xc0) != 0x80;
  return width;
}

}  // namespace gannet::sites
