#include "sites/admin/url_check.h"

#include <fmt/format.h>

#include <string>

#include "sites/admin/names.h"
#include "storage/url/domain.h"
#include "storage/url/filter.h"
#include "storage/url/surt.h"

namespace gannet::sites {
namespace {

// What a person should know of a verdict.
std::string Explain(storage::UrlVerdict verdict, const UrlsSection& urls) {
  using storage::UrlVerdict;
  switch (verdict) {
    case UrlVerdict::kAllowed:
      return "no filter is against it";
    case UrlVerdict::kScheme:
      return "its scheme is not crawled";
    case UrlVerdict::kTooLong:
      return fmt::format("longer than urls.max_bytes ({})", urls.max_bytes);
    case UrlVerdict::kTooDeep:
      return fmt::format("deeper than urls.max_path_depth ({})",
                         urls.max_path_depth);
    case UrlVerdict::kRepeatedSegments:
      return fmt::format(
          "its path repeats itself more than "
          "urls.max_segment_repeats ({})",
          urls.max_segment_repeats);
    case UrlVerdict::kTooManyParameters:
      return fmt::format("more than urls.max_query_parameters ({})",
                         urls.max_query_parameters);
    case UrlVerdict::kQueryTooLong:
      return fmt::format("its query is longer than urls.max_query_bytes ({})",
                         urls.max_query_bytes);
    case UrlVerdict::kDeniedDomain:
      return "urls.deny.domains has it";
    case UrlVerdict::kDeniedHost:
      return "urls.deny.hosts has it";
    case UrlVerdict::kDeniedPrefix:
      return "urls.deny.prefixes has it";
    case UrlVerdict::kDeniedRegex:
      return "urls.deny.regexes has it";
    case UrlVerdict::kNotAllowed:
      return "there are lists in urls.allow, and it is on none";
    case UrlVerdict::kOutOfScope:
      return "no seed's scope has it; 'gannet scope' shows them";
    case UrlVerdict::kTooFar:
      return "too many links from the seeds";
    case UrlVerdict::kScopeDenies:
      return "the scope denies it; 'gannet scope' shows how";
  }
  return "";
}

}  // namespace

absl::StatusOr<storage::Url> JudgeUrl(const SiteConfig& config,
                                      const storage::Scope& scope,
                                      std::string_view text,
                                      admin::UrlCheck& check) {
  absl::StatusOr<storage::Url> url = CanonicalUrl(config, text);
  if (!url.ok()) return url.status();
  const auto filter = storage::UrlFilter::Create(FilterRulesOf(config));
  if (!filter.ok()) return filter.status();
  storage::UrlVerdict verdict = (*filter)->Judge(*url);
  // How far it is from a seed is known of known pages only.
  if (verdict == storage::UrlVerdict::kAllowed) verdict = scope.Judge(*url, 0);
  check.set_url(std::string(url->href()));
  check.set_key(storage::SurtKey(*url));
  check.set_host(std::string(url->host()));
  check.set_domain(std::string(storage::RegistrableDomain(url->host())));
  check.set_allowed(verdict == storage::UrlVerdict::kAllowed);
  check.set_verdict(std::string(storage::UrlVerdictName(verdict)));
  check.set_reason(Explain(verdict, config.urls));
  return url;
}

}  // namespace gannet::sites
