// What the site's rules say of a URL, with no site needed: its canonical form,
// its key, and what the filters are against. A function; thread-safe.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "proto/admin.pb.h"
#include "sites/config/site_config.h"
#include "storage/url/scope.h"
#include "storage/url/url.h"

namespace gannet::sites {

// Fills all of `check` but what only a site knows. Returns the canonical URL;
// kInvalidArgument if it is none.
absl::StatusOr<storage::Url> JudgeUrl(const SiteConfig& config,
                                      const storage::Scope& scope,
                                      std::string_view text,
                                      admin::UrlCheck& check);

}  // namespace gannet::sites
