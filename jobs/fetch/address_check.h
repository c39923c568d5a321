// AddressCheck says which addresses a crawler must not connect to: a page may
// link to, or a name resolve to, the operator's own router, a database behind
// the firewall, or the cloud's metadata service. It is asked about the address
// that is really connected to, for every hop.
//
// Refused is every block of IANA's special-purpose registries (IPv4 and IPv6)
// that is not globally reachable, all of IPv6 outside 2000::/3, and the
// addresses where clouds serve metadata. An address that wraps an IPv4 address
// (NAT64, 6to4, Teredo) is judged by the one inside as well.
//
// Immutable, so safe from any thread.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "jobs/fetch/address.h"
#include "jobs/fetch/address_range.h"

namespace gannet::jobs {

class AddressCheck {
 public:
  // `allow_private` opens what a network of one's own is made of: loopback,
  // private, link-local, unique local, carrier-grade NAT, benchmarking and
  // documentation. Not metadata, multicast or unassigned addresses: those must
  // be named in `allowed`, which opens whatever it holds.
  explicit AddressCheck(bool allow_private = false,
                        std::vector<AddressRange> allowed = {});

  // The name of the block that forbids `address` ("loopback", "private", ...),
  // or nothing if it may be connected to. The name is static.
  std::optional<std::string_view> Refusal(const Address& address) const;

 private:
  bool allow_private_;
  std::vector<AddressRange> allowed_;
};

}  // namespace gannet::jobs
