// Address is an IP address of either kind. An IPv4 address is held as its
// mapped IPv6 form (::ffff:a.b.c.d): whoever checks addresses cannot forget
// that form, because there is no other. A value; thread-compatible.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sockaddr;

namespace gannet::jobs {

class Address {
 public:
  Address() = default;  // "::", unspecified.

  // "192.0.2.1", "2001:db8::1"; brackets around the latter are allowed.
  static std::optional<Address> Parse(std::string_view text);
  // Nullopt if it is of another family.
  static std::optional<Address> FromSockaddr(const sockaddr* address);
  static Address FromIpv4(uint32_t host_order);
  static Address FromBytes(const std::array<uint8_t, 16>& bytes);

  bool is_ipv4() const;
  const std::array<uint8_t, 16>& bytes() const { return bytes_; }
  std::string ToString() const;

  auto operator<=>(const Address&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const Address& address) {
    return H::combine(std::move(h), address.bytes_);
  }

 private:
  std::array<uint8_t, 16> bytes_{};
};

}  // namespace gannet::jobs
