#include "storage/url/punycode.h"

#include <cstdint>
#include <limits>

#include "storage/url/percent.h"

namespace gannet::storage {
namespace {

// RFC 3492, 5.
constexpr uint32_t kBase = 36, kTMin = 1, kTMax = 26, kSkew = 38, kDamp = 700;
constexpr uint32_t kInitialBias = 72, kInitialN = 0x80;

uint32_t Adapt(uint32_t delta, uint32_t points, bool first) {
  delta = first ? delta / kDamp : delta / 2;
  delta += delta / points;
  uint32_t k = 0;
  for (; delta > ((kBase - kTMin) * kTMax) / 2; k += kBase) {
    delta /= kBase - kTMin;
  }
  return k + (kBase - kTMin + 1) * delta / (delta + kSkew);
}

uint32_t Threshold(uint32_t k, uint32_t bias) {
  if (k <= bias + kTMin) return kTMin;
  return k >= bias + kTMax ? kTMax : k - bias;
}

char Digit(uint32_t value) {
  return static_cast<char>(value < 26 ? 'a' + value : '0' + (value - 26));
}

}  // namespace

std::string PunycodeEncode(std::u32string_view label) {
  std::string out;
  for (const char32_t c : label) {
    if (c < 0x80) out += static_cast<char>(c);
  }
  const auto basic = static_cast<uint32_t>(out.size());
  uint32_t handled = basic;
  if (basic > 0) out += '-';
  uint32_t n = kInitialN, delta = 0, bias = kInitialBias;
  while (handled < label.size()) {
    uint32_t next = std::numeric_limits<uint32_t>::max();
    for (const char32_t c : label) {
      if (c >= n && c < next) next = c;
    }
    delta += (next - n) * (handled + 1);
    n = next;
    for (const char32_t c : label) {
      if (c < n) ++delta;
      if (c != n) continue;
      uint32_t q = delta;
      for (uint32_t k = kBase;; k += kBase) {
        const uint32_t t = Threshold(k, bias);
        if (q < t) break;
        out += Digit(t + (q - t) % (kBase - t));
        q = (q - t) / (kBase - t);
      }
      out += Digit(q);
      bias = Adapt(delta, handled + 1, handled == basic);
      delta = 0;
      ++handled;
    }
    ++delta;
    ++n;
  }
  return out;
}

std::optional<std::u32string> PunycodeDecode(std::string_view in) {
  std::u32string out;
  const size_t delimiter = in.rfind('-');
  if (delimiter != std::string_view::npos) {
    for (const char c : in.substr(0, delimiter)) {
      if (static_cast<uint8_t>(c) >= 0x80) return std::nullopt;
      out += static_cast<char32_t>(c);
    }
    in.remove_prefix(delimiter + 1);
  }
  uint64_t n = kInitialN, i = 0;
  uint32_t bias = kInitialBias;
  for (size_t pos = 0; pos < in.size();) {
    const uint64_t old_i = i;
    uint64_t weight = 1;
    for (uint32_t k = kBase;; k += kBase) {
      if (pos >= in.size()) return std::nullopt;
      const char c = ToLower(in[pos++]);
      uint32_t digit = 0;
      if (c >= 'a' && c <= 'z') {
        digit = static_cast<uint32_t>(c - 'a');
      } else if (IsDigit(c)) {
        digit = static_cast<uint32_t>(c - '0' + 26);
      } else {
        return std::nullopt;
      }
      i += digit * weight;
      if (i > std::numeric_limits<uint32_t>::max()) return std::nullopt;
      const uint32_t t = Threshold(k, bias);
      if (digit < t) break;
      weight *= kBase - t;
      if (weight > std::numeric_limits<uint32_t>::max()) return std::nullopt;
    }
    const uint64_t points = out.size() + 1;
    bias = Adapt(static_cast<uint32_t>(i - old_i),
                 static_cast<uint32_t>(points), old_i == 0);
    n += i / points;
    i %= points;
    if (n > 0x10FFFF || (n >= 0xD800 && n <= 0xDFFF)) return std::nullopt;
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(i),
               static_cast<char32_t>(n));
    ++i;
  }
  return out;
}

}  // namespace gannet::storage
