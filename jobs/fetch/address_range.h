// AddressRange is a block of addresses as CIDR writes it ("10.0.0.0/8",
// "fd00::/8"). An IPv4 range holds IPv4 addresses only, an IPv6 range IPv6
// addresses only: "::/0" is not everything. A value; thread-compatible.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "jobs/fetch/address.h"

namespace gannet::jobs {

class AddressRange {
 public:
  // "127.0.0.0/8", "[fd00::]/64", "fd00::/64", or one address.
  // kInvalidArgument says what to write instead.
  static absl::StatusOr<AddressRange> Parse(std::string_view text);

  bool Contains(const Address& address) const;
  const Address& first() const { return first_; }
  Address last() const;
  bool is_ipv4() const { return prefix_ >= 96 && first_.is_ipv4(); }
  // How many bits are free: 24 of 127.0.0.0/8.
  int free_bits() const { return 128 - prefix_; }
  std::string ToString() const;

  friend bool operator==(const AddressRange&, const AddressRange&) = default;

 private:
  AddressRange(const Address& first, int prefix)
      : first_(first), prefix_(prefix) {}

  Address first_;
  int prefix_;  // Of 128: an IPv4 range's is 96 more than written.
};

}  // namespace gannet::jobs
