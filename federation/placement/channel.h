// A channel is what a site owns and recrawls as one: a registrable domain, or
// a host if the map says so. Its name is what the URL's host says, in plain
// order ("example.com", "127.0.0.1", "[::1]"): that is what operators read and
// what placements hash, so all sites must make it alike. They do if they share
// the public suffix list, which is one of the map's rules.
//
// Functions only; safe from any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "storage/crawl_db/keys.h"
#include "storage/url/url.h"

namespace gannet::federation {

// A setting of the map. A federation that crawls few, huge domains
// (*.gov.example) spreads only by host.
enum class ChannelUnit : uint8_t { kDomain, kHost };

struct Channel {
  std::string name;
  auto operator<=>(const Channel&) const = default;
};

// REQUIRES: `url` is canonical.
Channel ChannelOf(const storage::Url& url, ChannelUnit unit);

// The same from the URL's key, without making the URL. Nothing if `page` has
// no host that could have been written there; what stands behind the host is
// not looked at.
std::optional<Channel> ChannelOf(const storage::PageKey& page,
                                 ChannelUnit unit);

}  // namespace gannet::federation
