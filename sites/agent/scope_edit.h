// What an administrator asks to be changed of a federation's scope, as a change
// of the map. A function; thread-safe.
#pragma once

#include "absl/status/statusor.h"
#include "federation/map/map_changes.h"
#include "proto/admin.pb.h"
#include "sites/config/site_config.h"

namespace gannet::sites {

// kInvalidArgument names the seed, name or scope that is none. What a seed does
// not say is as this site's urls.scope and urls.max_depth have it.
absl::StatusOr<federation::ScopeEdit> ToScopeEdit(
    const admin::ChangeFederationRequest::OwnRules& request,
    const SiteConfig& config);

}  // namespace gannet::sites
