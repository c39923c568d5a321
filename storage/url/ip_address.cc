#include "storage/url/ip_address.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "storage/url/percent.h"

namespace gannet::storage {
namespace {

// More than any part of an address may be; larger numbers stop here.
constexpr uint64_t kTooBig = uint64_t{1} << 40;

// One part of an IPv4 address: 0x hex, leading 0 octal, else decimal.
std::optional<uint64_t> Ipv4Number(std::string_view part) {
  if (part.empty()) return std::nullopt;
  unsigned base = 10;
  if (part.size() >= 2 && part[0] == '0' && (part[1] | 0x20) == 'x') {
    base = 16;
    part.remove_prefix(2);
  } else if (part.size() >= 2 && part[0] == '0') {
    base = 8;
    part.remove_prefix(1);
  }
  uint64_t value = 0;  // "0x" alone is zero, by the standard.
  for (const char c : part) {
    if (!IsHexDigit(c)) return std::nullopt;
    const auto digit = static_cast<unsigned>(HexValue(c));
    if (digit >= base) return std::nullopt;
    value = std::min(value * base + digit, kTooBig);
  }
  return value;
}

std::string_view WithoutTrailingDot(std::string_view host) {
  if (!host.empty() && host.back() == '.') host.remove_suffix(1);
  return host;
}

}  // namespace

bool EndsInNumber(std::string_view host) {
  host = WithoutTrailingDot(host);
  const std::string_view last = host.substr(host.rfind('.') + 1);
  if (last.empty() || !IsDigit(last[0])) return false;
  if (std::all_of(last.begin(), last.end(), IsDigit)) return true;
  // All digits or not, an IPv4 number: what else starts with a digit is hex.
  return Ipv4Number(last).has_value();
}

bool AppendIpv4(std::string_view host, std::string& out) {
  host = WithoutTrailingDot(host);
  std::array<uint64_t, 4> numbers{};
  size_t count = 0;
  for (;;) {
    const size_t dot = host.find('.');
    const std::optional<uint64_t> number = Ipv4Number(host.substr(0, dot));
    if (!number.has_value() || count == numbers.size()) return false;
    numbers[count++] = *number;
    if (dot == std::string_view::npos) break;
    host.remove_prefix(dot + 1);
  }
  // The last number fills all the bytes that the others left.
  uint64_t address = numbers[count - 1];
  if (address >= uint64_t{1} << (8 * (5 - count))) return false;
  for (size_t i = 0; i + 1 < count; ++i) {
    if (numbers[i] > 255) return false;
    address |= numbers[i] << (8 * (3 - i));
  }
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += std::to_string((address >> shift) & 0xFF);
    if (shift > 0) out += '.';
  }
  return true;
}

bool AppendIpv6(std::string_view in, std::string& out) {
  std::array<uint16_t, 8> pieces{};
  size_t piece = 0;
  std::optional<size_t> compress;
  size_t i = 0;
  const auto at = [&in](size_t k) { return k < in.size() ? in[k] : '\0'; };
  if (at(0) == ':') {
    if (at(1) != ':') return false;
    i = 2;
    compress = ++piece;
  }
  while (i < in.size()) {
    if (piece == 8) return false;
    if (in[i] == ':') {
      if (compress.has_value()) return false;
      ++i;
      compress = ++piece;
      continue;
    }
    unsigned value = 0;
    size_t length = 0;
    while (length < 4 && i < in.size() && IsHexDigit(in[i])) {
      value = value * 16 + static_cast<unsigned>(HexValue(in[i++]));
      ++length;
    }
    if (at(i) == '.' && i < in.size()) {
      // The last 32 bits may be written as a plain dotted IPv4 address.
      if (length == 0 || piece > 6) return false;
      i -= length;
      int seen = 0;
      while (i < in.size()) {
        if (seen > 0) {
          if (in[i] != '.' || seen == 4) return false;
          ++i;
        }
        if (i >= in.size() || !IsDigit(in[i])) return false;
        unsigned part = 0;
        size_t digits = 0;
        while (i < in.size() && IsDigit(in[i])) {
          if (digits > 0 && part == 0) return false;  // No leading zero.
          part = part * 10 + static_cast<unsigned>(in[i++] - '0');
          ++digits;
          if (part > 255) return false;
        }
        pieces[piece] = static_cast<uint16_t>(pieces[piece] * 256 + part);
        ++seen;
        if (seen == 2 || seen == 4) ++piece;
      }
      if (seen != 4) return false;
      break;
    }
    if (i < in.size()) {
      if (in[i] != ':') return false;
      ++i;
      if (i >= in.size()) return false;
    }
    pieces[piece++] = static_cast<uint16_t>(value);
  }
  if (compress.has_value()) {
    // What stands after "::" belongs at the end.
    std::rotate(pieces.begin() + *compress, pieces.begin() + piece,
                pieces.end());
  } else if (piece != 8) {
    return false;
  }

  // Written with the first longest run of two or more zeros as "::".
  size_t best = 8, best_length = 1;
  for (size_t start = 0; start < 8; ++start) {
    size_t end = start;
    while (end < 8 && pieces[end] == 0) ++end;
    if (end - start > best_length) {
      best = start;
      best_length = end - start;
    }
    if (end > start) start = end - 1;
  }
  out += '[';
  for (size_t k = 0; k < 8; ++k) {
    if (k == best) {
      out += k == 0 ? "::" : ":";
      k += best_length - 1;
      continue;
    }
    char text[8];
    const int length = std::snprintf(text, sizeof text, "%x", pieces[k]);
    out.append(text, static_cast<size_t>(length));
    if (k != 7) out += ':';
  }
  out += ']';
  return true;
}

bool IsIpHost(std::string_view host) {
  if (host.empty()) return false;
  // A parsed host never ends in a number unless it is an address.
  return host[0] == '[' || (IsDigit(host.back()) && EndsInNumber(host));
}

}  // namespace gannet::storage
