#include "federation/exchange/greeting.h"

#include <fmt/format.h>

namespace gannet::federation {

absl::StatusOr<peers::Greeting> MakeGreeting(const MapView& view,
                                             uint64_t incarnation) {
  if (view.self() == nullptr) {
    return absl::FailedPreconditionError(
        "this site is not in the federation's map (any more)");
  }
  if (view.self()->incarnation() != incarnation) {
    return absl::FailedPreconditionError(
        "the map knows another incarnation of this site: it was restored, or "
        "copied, and has to join the federation again");
  }
  peers::Greeting greeting;
  greeting.set_protocol(kProtocol);
  greeting.set_oldest_protocol(kOldestProtocol);
  greeting.set_federation(view.map().federation());
  greeting.set_site(view.self()->id());
  greeting.set_incarnation(incarnation);
  greeting.set_term(view.map().term());
  greeting.set_epoch(view.map().epoch());
  return greeting;
}

absl::StatusOr<storage::Peer> CheckGreeting(const MapView& view,
                                            const peers::Greeting& greeting) {
  if (greeting.protocol() < kOldestProtocol ||
      greeting.oldest_protocol() > kProtocol) {
    return absl::UnimplementedError(fmt::format(
        "that site speaks versions {} to {} of the protocol, this one {} to "
        "{}; upgrade the older of the two",
        greeting.oldest_protocol(), greeting.protocol(), kOldestProtocol,
        kProtocol));
  }
  if (greeting.federation() != view.map().federation()) {
    return absl::FailedPreconditionError(
        "that is a site of another federation");
  }
  const proto::MapSite* site = FindSite(view.map(), greeting.site());
  if (site == nullptr || !IsActive(*site)) {
    return absl::PermissionDeniedError(fmt::format(
        "site {} is not in the map of epoch {}; if it was removed, an "
        "administrator can invite it again",
        greeting.site(), view.map().epoch()));
  }
  if (site->incarnation() != greeting.incarnation()) {
    return absl::PermissionDeniedError(fmt::format(
        "'{}' speaks with another incarnation than the map knows: a second "
        "copy of it, or a restored one that has not joined yet",
        site->name()));
  }
  return storage::Peer{storage::SiteId{site->id()}, site->incarnation()};
}

}  // namespace gannet::federation
