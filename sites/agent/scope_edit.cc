#include "sites/agent/scope_edit.h"

#include <optional>
#include <string>
#include <utility>

#include "sites/admin/names.h"
#include "sites/admin/seed_scopes.h"

namespace gannet::sites {

absl::StatusOr<federation::ScopeEdit> ToScopeEdit(
    const admin::ChangeFederationRequest::OwnRules& request,
    const SiteConfig& config) {
  using Kind = storage::ScopeRule::Kind;
  federation::ScopeEdit edit;
  const auto add = [&](absl::StatusOr<storage::ScopeRule> rule) {
    if (rule.ok()) edit.put.push_back(*std::move(rule));
    return rule.status();
  };
  for (const auto& seed : request.seeds()) {
    const auto url = CanonicalUrl(config, seed.url());
    if (!url.ok()) return url.status();
    std::optional<uint32_t> max_depth;
    if (seed.has_max_depth()) max_depth = seed.max_depth();
    auto rule = SeedRule(config, /*others_have_one=*/true, url->href(),
                         seed.scope(), max_depth);
    if (!rule.ok()) return rule.status();
    edit.put.push_back(**std::move(rule));
  }
  std::optional<uint32_t> max_depth;
  if (request.has_max_depth()) max_depth = request.max_depth();
  for (const std::string& name : request.allow()) {
    if (auto s = add(NameRule(Kind::kAllow, name, max_depth)); !s.ok()) {
      return s;
    }
  }
  for (const std::string& name : request.deny()) {
    if (auto s = add(NameRule(Kind::kDeny, name)); !s.ok()) return s;
  }
  for (const std::string& name : request.forget()) {
    edit.forget.push_back(RuleName(config, name));
  }
  return edit;
}

}  // namespace gannet::sites
