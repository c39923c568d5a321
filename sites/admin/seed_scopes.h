// How far a crawl goes from a seed, as operators say it ("host"; three links),
// becomes a rule of the scope (storage/url/scope.h). Functions only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "sites/config/site_config.h"
#include "storage/url/scope.h"

namespace gannet::sites {

// kInvalidArgument, with the words that are allowed, if it is not a seed's
// scope.
absl::StatusOr<storage::ScopeRule::Kind> SeedScopeOf(std::string_view word);

// The rule of the canonical `seed`. What was not said is as site.yaml has it;
// if that leaves it open too, it has none, or, if others have one, its domain.
absl::StatusOr<std::optional<storage::ScopeRule>> SeedRule(
    const SiteConfig& config, bool others_have_one, std::string_view seed,
    std::string_view word, std::optional<uint32_t> max_depth);

// An operator's name of a host or domain, for `kind`.
absl::StatusOr<storage::ScopeRule> NameRule(
    storage::ScopeRule::Kind kind, std::string_view name,
    std::optional<uint32_t> max_depth = std::nullopt);

// What an operator calls a seed or a name, as the rules have it.
std::string RuleName(const SiteConfig& config, std::string_view text);

}  // namespace gannet::sites
