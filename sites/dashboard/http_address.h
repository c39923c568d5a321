// Where a site's pages are served, and by which names. A page on the web can
// make a browser ask a name of its own that resolves to 127.0.0.1, or to an
// address of the operator's network (DNS rebinding), and would then read what
// only they should see; such a request still carries that name in Host, which
// is how it is known. Functions
// only; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace gannet::sites {

struct HttpAddress {
  std::string ip;     // IPv4.
  uint16_t port = 0;  // 0: any that is free.

  bool IsLoopback() const { return ip.rfind("127.", 0) == 0; }
};

// "127.0.0.1:7781", "localhost:0", "0.0.0.0:80". kInvalidArgument says what is
// wrong. No IPv6: Debian builds civetweb without.
absl::StatusOr<HttpAddress> ParseHttpAddress(std::string_view text);

// True if the value of a Host header names this machine whatever any DNS says:
// localhost (and names below it), 127.x.x.x, [::1]; with or without a port.
bool NamesThisMachine(std::string_view host_header);

// Whether a server at `address` may answer a request with this Host header. It
// may if that names this machine, or is one of `names`, with or without a port.
// Beyond loopback, also if it is an IP address, or a name without a dot
// ("tokyo", of Docker or a local network): no page of the web has such a name.
bool IsKnownHost(std::string_view host_header, const HttpAddress& address,
                 const std::vector<std::string>& names);

}  // namespace gannet::sites
