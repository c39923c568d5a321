#include "storage/url/host.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "storage/url/idna.h"
#include "storage/url/ip_address.h"
#include "storage/url/percent.h"

namespace gannet::storage {
namespace {

// What an ASCII byte becomes in a domain: itself in lower case, or zero where
// the byte is a forbidden domain code point, a percent sign or not ASCII.
constexpr std::array<char, 256> MakeDomainBytes() {
  std::array<char, 256> table{};
  for (int c = 0x21; c < 0x7F; ++c) table[c] = static_cast<char>(c);
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = static_cast<char>(c + 0x20);
  for (const char c : std::string_view("#%/:<>?@[\\]^|")) {
    table[static_cast<uint8_t>(c)] = 0;
  }
  return table;
}

constexpr std::array<char, 256> kDomainByte = MakeDomainBytes();

char DomainByte(char c) { return kDomainByte[static_cast<uint8_t>(c)]; }

// Appends `domain` in lower case; false at the first byte that needs more work.
bool AppendPlain(std::string_view domain, std::string& out) {
  const size_t start = out.size();
  out.append(domain);
  bool plain = true;
  for (size_t i = start; i < out.size(); ++i) {
    out[i] = DomainByte(out[i]);
    plain &= out[i] != 0;
  }
  return plain;
}

// REQUIRES: out ends in a domain that starts at `start`.
bool FinishDomain(size_t start, std::string& out) {
  if (out.size() == start) return false;
  // The cheap look first: a number starts with a digit, and names rarely do.
  std::string_view domain(out.data() + start, out.size() - start);
  if (domain.back() == '.') domain.remove_suffix(1);
  const size_t last = domain.rfind('.') + 1;
  if (last >= domain.size() || !IsDigit(domain[last])) return true;
  if (!EndsInNumber(domain)) return true;
  const std::string numbers(out, start);
  out.resize(start);
  return AppendIpv4(numbers, out);
}

}  // namespace

bool AppendHost(std::string_view host, std::string& out) {
  const size_t start = out.size();
  if (!host.empty() && host[0] == '[') {
    if (host.size() < 2 || host.back() != ']') return false;
    return AppendIpv6(host.substr(1, host.size() - 2), out);
  }
  if (AppendPlain(host, out)) return FinishDomain(start, out);
  out.resize(start);

  // U+FFFD, which broken UTF-8 turns into, is never part of a domain.
  if (!IsUtf8(host)) return false;
  std::string decoded;
  AppendDecoded(host, decoded);
  const bool ascii = std::all_of(decoded.begin(), decoded.end(), [](char c) {
    return static_cast<uint8_t>(c) < 0x80;
  });
  if (ascii) {
    return AppendPlain(decoded, out) && FinishDomain(start, out);
  }
  if (!IsUtf8(decoded)) return false;
  std::string domain;
  return AppendDomainToAscii(decoded, domain) && AppendPlain(domain, out) &&
         FinishDomain(start, out);
}

}  // namespace gannet::storage
