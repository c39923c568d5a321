// The federation in the messages of proto/admin.proto: what federation/member
// saw, and what an administrator wants. Functions only; thread-safe.
#pragma once

#include "absl/status/statusor.h"
#include "federation/member/membership.h"
#include "proto/admin.pb.h"

namespace gannet::sites {

// REQUIRES: snapshot.view is not null.
void ToMessage(const federation::FederationSnapshot& snapshot,
               const std::map<storage::SiteId, int64_t>& outbox_urls,
               admin::FederationState& reply);

// `now` is the map before the change.
void ToMessage(const federation::Plan& plan, const federation::Map& now,
               admin::FederationPlan& reply);

// The change of the map that is asked for; `self` stands for an empty name in
// `leave` and `capacity`. kInvalidArgument: none is, or `add`, or `join`,
// `rules` or `adopt`, which need more than the map.
absl::StatusOr<federation::MapChange> ToChange(
    const admin::ChangeFederationRequest& request, const std::string& self);
// The same for a plan: also `add`, whose site has no address yet, so that its
// map must never be a real one.
absl::StatusOr<federation::MapChange> ToPlannedChange(
    const admin::ChangeFederationRequest& request, const std::string& self);

}  // namespace gannet::sites
