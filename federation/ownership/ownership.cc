#include "federation/ownership/ownership.h"

#include <string>

namespace gannet::federation {

std::optional<Channel> Ownership::ChannelOf(std::string_view page) const {
  return federation::ChannelOf(
      storage::PageKey{std::string(page)},
      view_.map().rules().channel() == proto::CHANNEL_HOST
          ? ChannelUnit::kHost
          : ChannelUnit::kDomain);
}

std::optional<storage::SiteId> Ownership::OwnerOf(std::string_view page) const {
  const std::optional<Channel> channel = ChannelOf(page);
  if (!channel.has_value()) return std::nullopt;
  return view_.placement().owner(*channel);
}

bool Ownership::IsMine(std::string_view page) const {
  const proto::MapSite* self = view_.self();
  return self != nullptr && OwnerOf(page) == storage::SiteId{self->id()};
}

std::optional<storage::SiteId> Ownership::PreviousOwnerOf(
    std::string_view page) const {
  const Placement* previous = view_.previous_placement();
  if (previous == nullptr) return std::nullopt;
  const std::optional<Channel> channel = ChannelOf(page);
  if (!channel.has_value()) return std::nullopt;
  const storage::SiteId owner = previous->owner(*channel);
  const proto::MapSite* site =
      FindSite(view_.map(), static_cast<uint32_t>(owner));
  if (site == nullptr || !IsActive(*site)) return std::nullopt;
  return owner;
}

}  // namespace gannet::federation
