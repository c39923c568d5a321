#define XXH_INLINE_ALL
#include "jobs/fetch/connect_to.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "absl/numeric/int128.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace gannet::jobs {
namespace {

absl::Status Refuse(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      fmt::format("\"{}\": {}; write HOST:PORT or RANGE:PORT, like "
                  "127.0.0.1:8080, [::1]:8080, localhost:8080, "
                  "127.0.0.0/8:8080 or [fd00::/64]:8080; a second port is for "
                  "https, 127.0.0.1:8080,8443",
                  text, why));
}

bool IsName(std::string_view host) {
  return !host.empty() && host.size() <= 253 && host.front() != '.' &&
         host.front() != '-' &&
         std::all_of(host.begin(), host.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_';
         });
}

// 0: not a port.
uint16_t ParsePort(std::string_view text) {
  uint32_t number = 0;
  const bool is_number =
      !text.empty() && text.find_first_not_of("0123456789") == text.npos &&
      absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &number);
  return is_number && number <= 65535 ? static_cast<uint16_t>(number) : 0;
}

// Where in a range of 2^bits IPv4 addresses `hash` points to.
uint64_t Ipv4Offset(uint64_t hash, int bits) {
  const uint64_t size = uint64_t{1} << bits;
  if (bits <= 1) return hash % size;  // /31 has no network address (RFC 3021).
  if (bits <= 8) return 1 + hash % (size - 2);
  // As many blocks of 254 as the range has last octets of 1 to 254.
  const uint64_t place = hash % (size / 256 * 254);
  return place / 254 * 256 + 1 + place % 254;
}

absl::uint128 Ipv6Offset(absl::uint128 hash, int bits) {
  if (bits <= 1) return hash & ((absl::uint128(1) << bits) - 1);
  // The last address of a range of 2^128 would not fit into the number, and
  // need not be kept free.
  const absl::uint128 size =
      bits == 128 ? absl::Uint128Max() : absl::uint128(1) << bits;
  return 1 + hash % (size - 2);
}

}  // namespace

absl::StatusOr<ConnectTo> ConnectTo::Parse(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return Refuse(text, "no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view ports = text.substr(colon + 1);
  const size_t comma = ports.find(',');
  ConnectTo result;
  result.port_ = ParsePort(ports.substr(0, comma));
  result.tls_port_ =
      comma == ports.npos ? result.port_ : ParsePort(ports.substr(comma + 1));
  if (result.port_ == 0 || result.tls_port_ == 0) {
    return Refuse(text, "the port must be a number from 1 to 65535");
  }
  const bool bracketed =
      host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != host.npos) {
    return Refuse(text, "an IPv6 address needs brackets");
  }
  const bool is_address = Address::Parse(host).has_value();
  if (is_address || bracketed || host.find('/') != host.npos) {
    absl::StatusOr<AddressRange> range = AddressRange::Parse(host);
    if (!range.ok()) {
      return Refuse(text, std::string(range.status().message()));
    }
    result.range_ = *range;
    return result;
  }
  if (!IsName(host)) return Refuse(text, "no host before the port");
  result.name_ = std::string(host);
  return result;
}

std::optional<Address> ConnectTo::AddressFor(std::string_view host) const {
  if (!range_.has_value()) return std::nullopt;
  if (range_->free_bits() == 0) return range_->first();
  const XXH128_hash_t hash = XXH3_128bits(host.data(), host.size());
  const absl::uint128 offset =
      range_->is_ipv4()
          ? absl::uint128(Ipv4Offset(hash.low64, range_->free_bits()))
          : Ipv6Offset(absl::MakeUint128(hash.high64, hash.low64),
                       range_->free_bits());
  std::array<uint8_t, 16> bytes = range_->first().bytes();
  for (int i = 0; i < 16; ++i) {
    bytes[15 - i] |= static_cast<uint8_t>(offset >> (8 * i));
  }
  return Address::FromBytes(bytes);
}

}  // namespace gannet::jobs
