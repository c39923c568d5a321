#include "sites/console/scope_flags.h"

#include <fmt/format.h>

#include "sites/admin/seed_scopes.h"

namespace gannet::sites {

void ScopeFlags::AddTo(Command& command, const std::string& default_scope) {
  command.Value("--scope", scope_,
                fmt::format("how far to go from the seeds: {} [{}]",
                            storage::kSeedScopes, default_scope),
                {.type = "SCOPE"});
  command.Value("--max-depth", max_depth_,
                "follow at most N links from a seed [no limit]",
                {.type = "N", .positive = true});
  command.Value("--allow", allow_,
                "also crawl this host or domain, and all names below it",
                {.type = "DOMAIN"});
  command.Value("--deny", deny_, "never crawl this one", {.type = "DOMAIN"});
}

absl::Status ScopeFlags::Check() const {
  return scope_.empty() ? absl::OkStatus() : SeedScopeOf(scope_).status();
}

void ScopeFlags::DefaultToDomains(const SiteConfig& config) {
  const UrlListSection none;
  if (scope_.empty() && !config.urls.scope.has_value() &&
      config.urls.allow == none && config.federation.map == MapSource::kNone) {
    default_scope_ = "domain";
  }
}

std::optional<uint32_t> ScopeFlags::max_depth() const {
  if (max_depth_ == 0) return std::nullopt;
  return static_cast<uint32_t>(max_depth_);
}

absl::Status ScopeFlags::Send(Admin& site) const {
  if (allow_.empty() && deny_.empty()) return absl::OkStatus();
  admin::ScopeRequest request;
  request.mutable_allow()->Add(allow_.begin(), allow_.end());
  request.mutable_deny()->Add(deny_.begin(), deny_.end());
  if (const auto depth = max_depth()) request.set_max_depth(*depth);
  admin::ScopeRules reply;
  return site.ChangeScope(request, reply);
}

}  // namespace gannet::sites
