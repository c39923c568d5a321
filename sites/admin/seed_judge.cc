#include "sites/admin/seed_judge.h"

#include <fmt/format.h>

namespace gannet::sites {
namespace {

constexpr size_t kMostShown = 200;

}  // namespace

absl::StatusOr<SeedJudge> SeedJudge::Create(const SiteConfig& config) {
  auto canonicaliser = storage::Canonicaliser::Create(CanonicalRulesOf(config));
  if (!canonicaliser.ok()) return canonicaliser.status();
  auto filter =
      storage::UrlFilter::Create(FilterRulesOf(config), *canonicaliser);
  if (!filter.ok()) return filter.status();
  return SeedJudge(*std::move(canonicaliser), *std::move(filter));
}

absl::StatusOr<storage::Url> SeedJudge::Judge(std::string_view text) const {
  storage::Url url;
  const storage::UrlOutcome outcome =
      canonicaliser_.Canonicalise(text, nullptr, url);
  if (outcome != storage::UrlOutcome::kOk) {
    return absl::InvalidArgumentError(fmt::format(
        "'{}' is not an http or https URL ({})", text.substr(0, kMostShown),
        storage::UrlOutcomeName(outcome)));
  }
  const storage::UrlVerdict verdict = filter_->Judge(url);
  if (verdict != storage::UrlVerdict::kAllowed) {
    return absl::InvalidArgumentError(
        fmt::format("{} is filtered out ({})",
                    std::string_view(url.href()).substr(0, kMostShown),
                    storage::UrlVerdictName(verdict)));
  }
  return url;
}

}  // namespace gannet::sites
