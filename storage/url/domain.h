// The registrable domain of a host, by the public suffix list
// (https://publicsuffix.org/), private section included: shops on one platform
// (a.myshopify.com) are separate domains, as they are separate people. The
// federation shares out the web by domain, so *every* host has one here:
//
//   www.example.co.uk  ->  example.co.uk
//   127.0.0.1, [::1]   ->  itself
//   co.uk, localhost   ->  itself (a bare public suffix; a single label)
//
// The list is the one inside libpsl, not a file of the day: sites with
// different lists would disagree on owners, and PublicSuffixListHash() is one
// of the rules that they compare. Safe from any thread: the only state is a
// small cache in each thread (libpsl takes about 1 µs a host, the cache 0.02).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gannet::storage {

// The answer is a piece of `host`. REQUIRES: `host` as a canonical URL has it
// (lower case, ASCII, no trailing dot); anything else gets some piece of it.
std::string_view RegistrableDomain(std::string_view host);

// As the public suffix list has it: nothing for a bare public suffix, a single
// label or an IP address.
std::optional<std::string_view> RegistrableDomainIfAny(std::string_view host);

// The first byte of a page's key in the crawl DB: the unit of parallel work.
// The top byte of XXH3_64bits of the domain. Stored on disk: never change it.
uint8_t DomainBucket(std::string_view registrable_domain);

// SHA-1, in hex, of the public suffix list in force.
std::string_view PublicSuffixListHash();

}  // namespace gannet::storage
