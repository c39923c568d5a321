// The federation in the messages of proto/admin.proto: what federation/member
// saw, and what an administrator wants. Functions only; thread-safe.
#pragma once

#include "absl/status/statusor.h"
#include "federation/member/membership.h"
#include "proto/admin.pb.h"

namespace gannet::sites {

// REQUIRES: look.view is not null.
void ToMessage(const federation::FederationSnapshot& look,
               const std::map<storage::SiteId, int64_t>& outbox_urls,
               admin::FederationState& reply);

// `now` is the map before the change.
void ToMessage(const federation::Plan& plan, const federation::Map& now,
               admin::FederationPlan& reply);

// The change of the map that is asked for; `self` stands for an empty name.
// kInvalidArgument: there is no such verb. `adopt` and `join` are no changes of
// the map that there is, and are not made here.
absl::StatusOr<federation::Membership::MapChange> ToChange(
    const admin::ChangeFederationRequest& request, const std::string& self);

}  // namespace gannet::sites
