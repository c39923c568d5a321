// ConnectTo is the operator's --connect-to: where every fetch connects,
// whatever the URL's host. With a range each host name gets an address of its
// own in it, always the same, so that the delay per address works on a test
// web as on the real one. Immutable, so safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "jobs/fetch/address.h"
#include "jobs/fetch/address_range.h"

namespace gannet::jobs {

class ConnectTo {
 public:
  // "127.0.0.1:8080", "[::1]:8080", "localhost:8080", "127.0.0.0/8:8080",
  // "[fd00::/64]:8080". A second port, "127.0.0.1:8080,8443", is for https
  // URLs; without one they go to the first. kInvalidArgument says what to write
  // instead.
  static absl::StatusOr<ConnectTo> Parse(std::string_view text);

  uint16_t port(bool is_https) const { return is_https ? tls_port_ : port_; }
  bool is_range() const {
    return range_.has_value() && range_->free_bits() > 0;
  }
  // The host name of the flag ("localhost"); empty if it was an address or a
  // range.
  const std::string& name() const { return name_; }
  // Where to connect to for URLs of `host`; nothing if name() must be resolved.
  //
  // In a range: by a hash of the name, so two hosts may share an address as on
  // the web. Never the first or last address (network, broadcast), nor, in a
  // range wider than /24, one that ends in .0 or .255, which some stacks
  // refuse.
  std::optional<Address> AddressFor(std::string_view host) const;
  // Every address that AddressFor() may return; nothing with a name.
  const std::optional<AddressRange>& range() const { return range_; }

 private:
  ConnectTo() = default;

  uint16_t port_ = 0;
  uint16_t tls_port_ = 0;
  std::string name_;
  std::optional<AddressRange> range_;
};

}  // namespace gannet::jobs
