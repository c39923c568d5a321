#include "federation/member/registrar_follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "federation/exchange/greeting.h"
#include "federation/member/random64.h"

namespace gannet::federation {
namespace {

// Whether another site would give the same answer.
bool IsRefusal(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsAlreadyExists(status) ||
         absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
}

}  // namespace

std::string RegistrarFollower::Step() {
  auto view = own_.maps.view();
  if (view == nullptr && door_.empty()) {
    if (absl::Status s = Found(); !s.ok()) return std::string(s.message());
    view = own_.maps.view();
  }
  if (view != nullptr) FinishHandOffIfDone(*view);
  if (view != nullptr && own_.IsIn(*view) &&
      view->self()->address() == own_.self.address) {
    own_.life.OnInMap();
    refused_.Reset();
    unheard_.Reset();
    next_ = absl::InfinitePast();
    return RulesProblem(*view);
  }
  if (own_.clock.SteadyNow() >= next_) {
    const absl::Status status = Ask("");
    why_not_in_ = status.ok() ? "" : WhyNotIn(status);
    next_ = own_.clock.SteadyNow() +
            (IsRefusal(status) ? refused_ : unheard_).Next();
  }
  return why_not_in_;
}

absl::Status RegistrarFollower::Found() {
  const auto map = FoundFederation(own_.AsApplicant(), Random64(), {},
                                   /*is_registrar=*/true);
  absl::Status status = map.status();
  if (status.ok()) status = own_.maps.Offer(*map);
  if (status.ok()) {
    own_.note("federation_founded", {{"site", own_.self.name}});
  }
  return status;
}

// The text must be the same each time, so that it is logged once.
std::string RegistrarFollower::WhyNotIn(const absl::Status& refused) const {
  const std::string why(refused.message());
  const auto view = own_.maps.view();
  if (view == nullptr || FindSite(view->map(), own_.self.name) != nullptr) {
    return why;
  }
  const std::string text = HowToReturn(
      *view, fmt::format("it joins by itself within {}; at once with 'gannet "
                         "federation join' here",
                         absl::FormatDuration(kLongestRefused)));
  // The text above already says that it is not invited.
  return absl::IsPermissionDenied(refused) ? text
                                           : text + " (now: " + why + ")";
}

absl::Status RegistrarFollower::Ask(const std::string& address) {
  const auto view = own_.maps.view();
  peers::JoinRequest request;
  request.set_protocol(kProtocol);
  request.set_oldest_protocol(kOldestProtocol);
  *request.mutable_rules() = own_.self.rules;
  request.mutable_rules()->clear_scope();  // The map's holds.
  request.set_process(own_.life.process());
  if (view != nullptr) {
    if (view->self() != nullptr) {
      request.set_replaces(view->self()->incarnation());
    } else if (absl::Status s = own_.life.BeReborn(); !s.ok()) {
      return s;
    }
  }
  proto::MapSite& site = *request.mutable_site();
  site.set_name(own_.self.name);
  site.set_incarnation(own_.life.incarnation());
  site.set_address(own_.self.address);
  *site.mutable_location() = own_.self.location;
  site.set_capacity(own_.self.capacity);

  // The site that it is told to ask, else the sites of its last map.
  std::vector<std::pair<std::string, std::string>> doors;  // Address, name.
  if (const std::string& first = address.empty() ? door_ : address;
      !first.empty()) {
    doors.emplace_back(first, "");
  }
  if (view != nullptr && address.empty()) {
    for (const proto::MapSite* peer : view->peers()) {
      doors.emplace_back(peer->address(), peer->name());
    }
  }
  absl::Status status = absl::FailedPreconditionError(
      "there is nobody to ask: federation.join names a site's address");
  for (const auto& [door, name] : doors) {
    const absl::StatusOr<Map> map = ask_(door, name, request);
    status = map.status();
    if (IsRefusal(status) || absl::IsCancelled(status)) return status;
    if (status.ok()) status = own_.maps.Offer(*map);
    if (!status.ok()) continue;
    own_.life.OnInMap();
    own_.note("federation_joined", {{"site", own_.self.name},
                                    {"epoch", std::to_string(map->epoch())}});
    return absl::OkStatus();
  }
  return status;
}

absl::StatusOr<Map> RegistrarFollower::Join(const std::string& address) {
  absl::Status status;
  if (!address.empty()) status = CheckPeerAddress(address);
  if (status.ok()) status = Ask(address);
  if (!status.ok()) return status;
  return own_.maps.view()->map();
}

absl::StatusOr<Map> RegistrarFollower::Adopt() {
  neighbours_.FetchNewerMap();
  const auto view = own_.maps.view();
  if (view == nullptr || view->self() == nullptr) {
    return absl::FailedPreconditionError("this site is in no federation");
  }
  if (!own_.IsIn(*view)) {
    return absl::FailedPreconditionError(
        "this site was restored, and has not joined the federation again: its "
        "map may be an old one. Let another site adopt the role; then this one "
        "joins by itself");
  }
  uint64_t highest = view->map().epoch();
  for (const auto& [id, seen] : neighbours_.Snapshots()) {
    if (seen.epoch < kLastEpoch) highest = std::max(highest, seen.epoch);
  }
  auto next = federation::Adopt(view->map(), own_.self.name, highest);
  if (!next.ok()) return next;
  if (absl::Status s = own_.maps.Offer(*next); !s.ok()) return s;
  own_.note("registrar_adopted",
            {{"term", std::to_string(TermNumber(next->term()))}});
  return next;
}

void RegistrarFollower::FinishHandOffIfDone(const MapView& view) {
  const Map& map = view.map();
  if (!IsHandingOff(map) || !view.IsRegistrar() || !is_handed_off_(view))
    return;
  const auto next = FinishHandOff(map);
  if (next.ok() && registrar_.CompareAndSwap(map, *next).ok()) {
    own_.note("hand_off_done", {{"epoch", std::to_string(map.placed_epoch())}});
  }
}

}  // namespace gannet::federation
