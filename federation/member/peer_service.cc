#include "federation/member/peer_service.h"

#include <fmt/format.h>

#include <memory>

#include "federation/exchange/greeting.h"

namespace gannet::federation {
namespace {

absl::Status MapIsAFileError() {
  return absl::FailedPreconditionError(
      "this federation's map is a file, which the administrator changes");
}

}  // namespace

// Refuses a call that a site may not make, and counts it for the metrics.
absl::Status PeerService::Refuse(absl::Status status) {
  ++refused_;
  return status;
}

absl::StatusOr<storage::Peer> PeerService::CheckCaller(
    const Caller& caller, const peers::Greeting& greeting) {
  std::shared_ptr<const MapView> view = own_.maps.view();
  if (view == nullptr) {
    return absl::FailedPreconditionError("this site is in no federation (yet)");
  }
  // The identity is checked first: nothing is done for a caller that poses as
  // another site.
  const auto names_itself = [&] {
    const proto::MapSite* site = FindSite(view->map(), greeting.site());
    return !caller.is_secured ||
           (caller.site_name.has_value() &&
            (site == nullptr || caller.site_name == site->name()));
  };
  if (names_itself() && greeting.federation() == view->map().federation() &&
      IsNewer(greeting.term(), greeting.epoch(), view->map())) {
    // The caller has a newer map. It is fetched from the caller, if this site
    // knows it; a caller that only the newer map has must try again in a
    // moment.
    const auto neighbour = neighbours_.Find(greeting.site());
    if (neighbour == nullptr) {
      for (const auto& [id, other] : neighbours_.all()) other->BeatNow();
      return absl::UnavailableError(
          "that site has a newer map, which this one is fetching; try again");
    }
    (void)neighbour->CatchUp();
    view = own_.maps.view();
  }
  absl::StatusOr<storage::Peer> peer = CheckGreeting(*view, greeting);
  if (!peer.ok()) return Refuse(peer.status());
  if (view->self() != nullptr && greeting.site() == view->self()->id()) {
    return Refuse(absl::PermissionDeniedError(
        "the caller says that it is this site: a second copy of it, or "
        "somebody who poses as it"));
  }
  const proto::MapSite* site = FindSite(view->map(), greeting.site());
  if (caller.is_secured && caller.site_name != site->name()) {
    return Refuse(absl::PermissionDeniedError(
        fmt::format("the certificate is {}, but the greeting names site '{}'",
                    caller.site_name.has_value()
                        ? "that of site '" + *caller.site_name + "'"
                        : "not a site's",
                    site->name())));
  }
  if (absl::Status s = lives_.Hear(greeting, own_.clock.SteadyNow()); !s.ok()) {
    return Refuse(s);
  }
  if (const auto neighbour = neighbours_.Find(greeting.site())) {
    neighbour->OnHeard(greeting);
  }
  return peer;
}

absl::StatusOr<PutPair> PeerService::OpenPut(const Caller& caller,
                                             const peers::Greeting& greeting,
                                             peers::PutReply& reply) {
  absl::StatusOr<storage::Peer> peer = CheckCaller(caller, greeting);
  if (!peer.ok()) return peer.status();
  auto own = own_.Greeting();
  if (!own.ok()) return own.status();
  // The receiver would refuse each batch, so do not let the stream begin.
  if (absl::Status s = receiver_.CheckOwnRules(*own_.maps.view()); !s.ok()) {
    return s;
  }
  *reply.mutable_greeting() = *own;
  reply.set_term(own->term());
  reply.set_epoch(own->epoch());
  const auto received = own_.crawl_db.incoming().PromisedPair(*peer);
  if (!received.ok()) return received.status();
  reply.set_last(received->last());
  return PutPair{*peer, own->incarnation()};
}

OpenedBatch PeerService::OpenBatch(const PutPair& pair,
                                   const peers::Batch& batch) {
  return receiver_.Open(pair.from, batch);
}

absl::Status PeerService::StoreBatch(const PutPair& pair,
                                     const peers::Batch& batch,
                                     OpenedBatch opened,
                                     peers::PutReply& reply) {
  const storage::Peer& from = pair.from;
  const auto neighbour = neighbours_.Find(static_cast<uint32_t>(from.site));
  absl::StatusOr<storage::Receipt> receipt =
      receiver_.Store(from, batch, std::move(opened), pair.to_incarnation);
  if (absl::IsAborted(receipt.status()) && neighbour != nullptr) {
    // By a newer map than this site's: that one first.
    if (absl::Status s = neighbour->CatchUp(); !s.ok()) return s;
    receipt = receiver_.Store(from, batch, receiver_.Open(from, batch),
                              pair.to_incarnation);
  }
  if (!receipt.ok()) {
    own_.note("batch_refused",
              {{"site", std::to_string(static_cast<uint32_t>(from.site))},
               {"batch", std::to_string(batch.sequence())},
               {"error", std::string(receipt.status().message())}});
    return receipt.status();
  }
  if (neighbour != nullptr) {
    neighbour->OnReceived(
        static_cast<uint64_t>(receipt->counts.added + receipt->counts.known),
        static_cast<uint64_t>(receipt->moved), BytesOf(batch));
  }
  reply.set_last(receipt->last);
  if (const auto view = own_.maps.view()) {
    reply.set_term(view->map().term());
    reply.set_epoch(view->map().epoch());
  }
  return absl::OkStatus();
}

void PeerService::OnCut(const std::optional<storage::Peer>& from) {
  // A caller that never greeted is a stranger.
  ++(from.has_value() ? cut_streams_ : refused_);
}

absl::Status PeerService::RefuseStream(absl::Status why) {
  return Refuse(std::move(why));
}

absl::Status PeerService::Beat(const Caller& caller,
                               const peers::BeatRequest& request,
                               peers::BeatReply& reply) {
  auto peer = CheckCaller(caller, request.greeting());
  if (!peer.ok()) return peer.status();
  auto own = own_.Greeting();
  if (!own.ok()) return own.status();
  *reply.mutable_greeting() = *std::move(own);
  *reply.mutable_condition() = answers_.OwnCondition();
  return absl::OkStatus();
}

// Answers every caller with a certificate of this federation: a site that was
// removed must be able to see that.
absl::Status PeerService::GetMap(const Caller& caller,
                                 const peers::GetMapRequest& request,
                                 peers::MapReply& reply) {
  if (caller.is_secured && !caller.site_name.has_value()) {
    return Refuse(
        absl::PermissionDeniedError("the certificate is not a site's"));
  }
  const auto view = own_.maps.view();
  if (view == nullptr) {
    return absl::NotFoundError("this site is in no federation (yet)");
  }
  if (request.greeting().federation() != 0 &&
      request.greeting().federation() != view->map().federation()) {
    return Refuse(
        absl::FailedPreconditionError("that is a site of another federation"));
  }
  *reply.mutable_map() = view->map();
  return absl::OkStatus();
}

absl::Status PeerService::CompareAndSwapMap(
    const Caller& caller, const peers::CompareAndSwapMapRequest& request,
    peers::MapReply& reply) {
  auto peer = CheckCaller(caller, request.greeting());
  if (!peer.ok()) return peer.status();
  if (registrar_ == nullptr) return MapIsAFileError();
  auto map = registrar_->ReplaceMap(request.expected_term(),
                                    request.expected_epoch(), request.next());
  if (!map.ok()) return map.status();
  *reply.mutable_map() = *std::move(map);
  return absl::OkStatus();
}

// A copy of a living site, also one that was restored, would take that one's
// place in the map, address and all; and the other would take it back.
absl::Status PeerService::CheckOnlyLife(const peers::JoinRequest& request) {
  const auto view = own_.maps.view();
  if (view == nullptr) return absl::OkStatus();
  if (request.process() == 0) {
    return absl::InvalidArgumentError("the request names no process");
  }
  for (const proto::MapSite& site : view->map().sites()) {
    if (site.name() != request.site().name() || !IsActive(site)) continue;
    if (view->self() != nullptr && site.id() == view->self()->id()) {
      return absl::AlreadyExistsError(fmt::format(
          "this is site '{}' itself: a second copy of it must not run",
          site.name()));
    }
    peers::Greeting greeting;
    greeting.set_site(site.id());
    greeting.set_process(request.process());
    return lives_.Hear(greeting, own_.clock.SteadyNow());
  }
  return absl::OkStatus();
}

absl::Status PeerService::Join(const Caller& caller,
                               const peers::JoinRequest& request,
                               peers::MapReply& reply) {
  const proto::MapSite& site = request.site();
  if (caller.is_secured && caller.site_name != site.name()) {
    return Refuse(absl::PermissionDeniedError(fmt::format(
        "'{}' wants to join, with the certificate of {}", site.name(),
        caller.site_name.has_value() ? "'" + *caller.site_name + "'"
                                     : "no site")));
  }
  if (request.protocol() < kOldestProtocol ||
      request.oldest_protocol() > kProtocol) {
    return Refuse(absl::UnimplementedError(fmt::format(
        "that site speaks versions {} to {} of the protocol, this one {} to "
        "{}; upgrade the older of the two",
        request.oldest_protocol(), request.protocol(), kOldestProtocol,
        kProtocol)));
  }
  if (registrar_ == nullptr) return MapIsAFileError();
  if (absl::Status s = CheckOnlyLife(request); !s.ok()) return Refuse(s);
  Applicant applicant;
  applicant.name = site.name();
  applicant.incarnation = site.incarnation();
  applicant.address = site.address();
  applicant.location = site.location();
  applicant.capacity = site.capacity();
  applicant.rules = request.rules();
  auto map = ChangeMap(*registrar_, [&](const Map& now) {
    return federation::Join(now, applicant, request.replaces());
  });
  if (!map.ok()) return Refuse(map.status());
  own_.note("site_joined",
            {{"site", site.name()}, {"address", site.address()}});
  *reply.mutable_map() = *std::move(map);
  return absl::OkStatus();
}

absl::Status PeerService::Verify(const Caller& caller,
                                 const peers::VerifyRequest& request,
                                 peers::VerifyReply& reply) {
  auto peer = CheckCaller(caller, request.greeting());
  if (!peer.ok()) return peer.status();
  auto checks = answers_.Verify(request.full());
  if (checks.ok()) reply = *std::move(checks);
  return checks.status();
}

absl::Status PeerService::CountMoves(const Caller& caller,
                                     const peers::CountMovesRequest& request,
                                     peers::MoveCounts& reply) {
  auto peer = CheckCaller(caller, request.greeting());
  if (!peer.ok()) return peer.status();
  auto counts = answers_.CountMoves(request.next());
  if (counts.ok()) reply = *std::move(counts);
  return counts.status();
}

}  // namespace gannet::federation
