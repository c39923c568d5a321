#include "federation/member/registrar_map.h"

#include <fmt/format.h>

#include <utility>

namespace gannet::federation {
namespace {

absl::Status InNoFederation() {
  return absl::NotFoundError("this site is in no federation");
}

// What an administrator can do about a registrar that is away.
absl::Status Explain(const absl::Status& status) {
  if (!absl::IsUnavailable(status)) return status;
  return absl::UnavailableError(fmt::format(
      "the registrar does not answer ({}): the map cannot be changed now, but "
      "crawling and exchange go on. Try again when it is back; or, if it is "
      "gone, 'gannet federation adopt' at another site",
      std::string(status.message())));
}

}  // namespace

absl::StatusOr<std::shared_ptr<PeerClient>> RegistrarMap::Registrar(
    const MapView& view) {
  const proto::MapSite* site = FindSite(view.map(), view.map().registrar());
  if (site == nullptr) {
    return absl::FailedPreconditionError(
        "the map names no registrar that is in it; 'gannet federation adopt' "
        "at a site makes it the registrar");
  }
  const auto neighbour = neighbours_.Find(site->id());
  if (neighbour == nullptr) {
    return absl::UnavailableError(
        fmt::format("site '{}' is not known yet", site->name()));
  }
  return neighbour->shared_client();
}

absl::StatusOr<Map> RegistrarMap::Get() {
  std::shared_ptr<const MapView> view = own_.maps.view();
  if (view == nullptr) return InNoFederation();
  if (view->IsRegistrar()) {
    neighbours_.FetchNewerMap();
    return own_.maps.view()->map();
  }
  auto registrar = Registrar(*view);
  if (!registrar.ok()) return registrar.status();
  peers::GetMapRequest request;
  if (auto greeting = own_.Greeting(); greeting.ok()) {
    *request.mutable_greeting() = *std::move(greeting);
  }
  peers::MapReply reply;
  if (absl::Status s = (*registrar)->GetMap(request, reply); !s.ok()) {
    return Explain(s);
  }
  if (absl::Status s = own_.maps.Offer(reply.map()); !s.ok()) return s;
  return own_.maps.view()->map();
}

absl::Status RegistrarMap::CompareAndSwap(const Map& expected,
                                          const Map& next) {
  std::shared_ptr<const MapView> view = own_.maps.view();
  if (view == nullptr) return InNoFederation();
  if (view->IsRegistrar()) {
    return ReplaceMap(expected.term(), expected.epoch(), next).status();
  }
  auto registrar = Registrar(*view);
  if (!registrar.ok()) return registrar.status();
  auto greeting = own_.Greeting();
  if (!greeting.ok()) return greeting.status();
  peers::CompareAndSwapMapRequest request;
  *request.mutable_greeting() = *std::move(greeting);
  request.set_expected_term(expected.term());
  request.set_expected_epoch(expected.epoch());
  *request.mutable_next() = next;
  peers::MapReply reply;
  if (absl::Status s = (*registrar)->CompareAndSwapMap(request, reply);
      !s.ok()) {
    return Explain(s);
  }
  return own_.maps.Offer(reply.map());
}

absl::StatusOr<Map> RegistrarMap::ReplaceMap(uint64_t expected_term,
                                             uint64_t expected_epoch,
                                             const Map& next) {
  storage::MutexLock one_at_a_time(&take_mu_);
  neighbours_.FetchNewerMap();
  const std::shared_ptr<const MapView> view = own_.maps.view();
  if (view == nullptr) return InNoFederation();
  const Map& map = view->map();
  if (!view->IsRegistrar()) {
    const proto::MapSite* other = FindSite(map, map.registrar());
    return absl::FailedPreconditionError(fmt::format(
        "the registrar is '{}', since term {}",
        other == nullptr ? "?" : other->name(), TermNumber(map.term())));
  }
  if (map.term() != expected_term || map.epoch() != expected_epoch) {
    return absl::AbortedError(fmt::format("the map has epoch {} by now, not {}",
                                          map.epoch(), expected_epoch));
  }
  if (next.federation() != map.federation() || next.term() != map.term() ||
      next.epoch() != map.epoch() + 1 || next.registrar() != map.registrar()) {
    return absl::InvalidArgumentError(
        "this is not the next map: another federation, term, epoch or "
        "registrar");
  }
  const proto::MapSite* self = FindSite(next, next.registrar());
  if (self == nullptr || self->incarnation() != own_.life.incarnation()) {
    return absl::FailedPreconditionError(
        "the registrar was restored, and has to join the federation again "
        "before the map can be changed; it does so by itself, and its status "
        "says what is in the way");
  }
  if (absl::Status s = own_.maps.Offer(next); !s.ok()) return s;
  return next;
}

}  // namespace gannet::federation
