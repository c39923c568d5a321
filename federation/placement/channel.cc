#include "federation/placement/channel.h"

#include <string_view>
#include <utility>

#include "storage/url/domain.h"
#include "storage/url/surt.h"

namespace gannet::federation {

Channel ChannelOf(const storage::Url& url, ChannelUnit unit) {
  return Channel{std::string(unit == ChannelUnit::kHost
                                 ? url.host()
                                 : storage::RegistrableDomain(url.host()))};
}

std::optional<Channel> ChannelOf(const storage::PageKey& page,
                                 ChannelUnit unit) {
  std::string host;
  if (!storage::AppendHostFromSurt(storage::SurtOf(page.bytes), host)) {
    return std::nullopt;
  }
  if (unit == ChannelUnit::kDomain) {
    const std::string_view domain = storage::RegistrableDomain(host);
    host.erase(0, static_cast<size_t>(domain.data() - host.data()));
    host.resize(domain.size());
  }
  return Channel{std::move(host)};
}

}  // namespace gannet::federation
