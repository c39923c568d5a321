// The host of an http(s) URL: IPv6 in brackets, IPv4 in any of its spellings,
// else a domain in ASCII, lower case
// (https://url.spec.whatwg.org/#host-parsing). Since 2025 the standard takes an
// ASCII domain as it stands: "xn--" labels are checked only in names that are
// not ASCII. Functions only; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace gannet::storage {

// Appends the serialised form of `host` to `out`. False if it is no host; `out`
// then holds rubbish behind its old end. Linear in the input's length.
bool AppendHost(std::string_view host, std::string& out);

}  // namespace gannet::storage
