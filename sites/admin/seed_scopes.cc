#include "sites/admin/seed_scopes.h"

#include <fmt/format.h>

#include <string>

#include "sites/admin/names.h"

namespace gannet::sites {

using storage::ScopeRule;

absl::StatusOr<ScopeRule::Kind> SeedScopeOf(std::string_view word) {
  const auto kind = storage::ScopeKindOf(word);
  if (kind.has_value() && *kind != ScopeRule::Kind::kAllow &&
      *kind != ScopeRule::Kind::kDeny) {
    return *kind;
  }
  return absl::InvalidArgumentError(fmt::format(
      "scope: found '{:.40}', allowed is {}", word, storage::kSeedScopes));
}

absl::StatusOr<std::optional<ScopeRule>> SeedRule(
    const SiteConfig& config, bool others_have_one, std::string_view seed,
    std::string_view word, std::optional<uint32_t> max_depth) {
  using Kind = ScopeRule::Kind;
  const Kind left_open = others_have_one ? Kind::kDomain : Kind::kAny;
  ScopeRule rule{config.urls.scope.value_or(left_open), std::string(seed),
                 max_depth};
  if (!max_depth.has_value() && config.urls.max_depth > 0) {
    rule.max_depth = static_cast<uint32_t>(config.urls.max_depth);
  }
  if (word.empty()) {
    const bool is_open = !config.urls.scope.has_value() && !others_have_one &&
                         !rule.max_depth.has_value();
    return is_open ? std::optional<ScopeRule>() : rule;
  }
  const auto kind = SeedScopeOf(word);
  if (!kind.ok()) return kind.status();
  rule.kind = *kind;
  return rule;
}

absl::StatusOr<ScopeRule> NameRule(ScopeRule::Kind kind, std::string_view name,
                                   std::optional<uint32_t> max_depth) {
  auto host = CanonicalHost(name);
  if (!host.ok()) return host.status();
  return ScopeRule{kind, *std::move(host), max_depth};
}

std::string RuleName(const SiteConfig& config, std::string_view text) {
  if (const auto url = CanonicalUrl(config, text); url.ok()) return url->href();
  return CanonicalHost(text).value_or(std::string(text));
}

}  // namespace gannet::sites
