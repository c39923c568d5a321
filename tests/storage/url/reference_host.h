// The part of reference_url.h that concerns hosts: the URL Standard's host,
// IPv4 and IPv6 parsers, and the canonical form by split and join.
#pragma once

#include <optional>
#include <string>

namespace gannet::storage::reference {

// `host` is UTF-8.
std::optional<std::string> RefHost(const std::string& host);

}  // namespace gannet::storage::reference
