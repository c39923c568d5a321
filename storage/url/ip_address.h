// IP addresses as hosts of URLs: read as generously as browsers do (0x7f.1 is
// 127.0.0.1), written in the one form that the URL Standard gives.
// (https://url.spec.whatwg.org/#concept-ipv4-parser and -ipv6-parser.)
// Functions only; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace gannet::storage {

// True if the last label of `host` is a number, a trailing dot aside: such a
// host is an IPv4 address or nothing.
bool EndsInNumber(std::string_view host);

// Appends the dotted form of `host` (decimal, octal, hex; one to four parts).
// False, and nothing appended, if it is no IPv4 address.
bool AppendIpv4(std::string_view host, std::string& out);

// Appends the compressed form of `address` (without brackets) in brackets.
// False, and nothing appended, if it is no IPv6 address.
bool AppendIpv6(std::string_view address, std::string& out);

// True if `host`, as a parsed URL holds it, is an IP address of either kind.
bool IsIpHost(std::string_view host);

}  // namespace gannet::storage
