#include "storage/url/percent.h"

namespace gannet::storage {
namespace {

constexpr char kHex[] = "0123456789ABCDEF";

}  // namespace

char32_t NextCodePoint(std::string_view in, size_t& pos) {
  const auto byte = [&in](size_t i) { return static_cast<uint8_t>(in[i]); };
  const uint8_t lead = byte(pos++);
  if (lead < 0x80) return lead;
  int more = 0;
  char32_t code_point = 0;
  // The bounds of the second byte shut out overlong forms, surrogates and what
  // lies beyond U+10FFFF.
  uint8_t low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    more = 1;
    code_point = lead & 0x1F;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    more = 2;
    code_point = lead & 0x0F;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    more = 3;
    code_point = lead & 0x07;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return kReplacement;
  }
  for (; more > 0; --more) {
    // The byte that breaks the sequence is not eaten: it may start the next.
    if (pos >= in.size() || byte(pos) < low || byte(pos) > high) {
      return kReplacement;
    }
    code_point = (code_point << 6) | (byte(pos++) & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  return code_point;
}

void AppendUtf8(char32_t c, std::string& out) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

bool IsUtf8(std::string_view bytes) {
  for (size_t pos = 0; pos < bytes.size();) {
    const size_t start = pos;
    // A real U+FFFD is three bytes, EF BF BD; anything else is a repair.
    if (NextCodePoint(bytes, pos) == kReplacement &&
        bytes.substr(start, 3) != "\xEF\xBF\xBD") {
      return false;
    }
  }
  return true;
}

void AppendPercentByte(uint8_t byte, std::string& out) {
  const char encoded[3] = {'%', kHex[byte >> 4], kHex[byte & 0xF]};
  out.append(encoded, 3);
}

void AppendEncoded(std::string_view in, ByteClass set, std::string& out) {
  size_t pos = 0;
  while (pos < in.size()) {
    size_t run = pos;
    while (run < in.size() && !(ClassOf(in[run]) & set)) ++run;
    out.append(in.data() + pos, run - pos);
    pos = run;
    if (pos >= in.size()) return;
    if (static_cast<uint8_t>(in[pos]) < 0x80) {
      AppendPercentByte(static_cast<uint8_t>(in[pos++]), out);
      continue;
    }
    const size_t start = pos;
    if (NextCodePoint(in, pos) == kReplacement) {
      out += "%EF%BF%BD";
    } else {
      for (size_t i = start; i < pos; ++i) {
        AppendPercentByte(static_cast<uint8_t>(in[i]), out);
      }
    }
  }
}

void AppendDecoded(std::string_view in, std::string& out) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == '%' && i + 2 < in.size() && IsHexDigit(in[i + 1]) &&
        IsHexDigit(in[i + 2])) {
      out += static_cast<char>(HexValue(in[i + 1]) * 16 + HexValue(in[i + 2]));
      i += 2;
    } else {
      out += in[i];
    }
  }
}

}  // namespace gannet::storage
