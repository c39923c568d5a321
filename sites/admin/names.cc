#include "sites/admin/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "sites/config/quantity.h"
#include "storage/url/canonical.h"
#include "storage/url/domain.h"
#include "storage/url/surt.h"

namespace gannet::sites {
namespace {

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return text;
}

}  // namespace

std::string StateName(proto::PageState state) {
  return LowerCase(proto::PageState_Name(state));
}

std::optional<proto::PageState> StateOf(std::string_view name) {
  for (int i = 0; i < proto::PageState_ARRAYSIZE; ++i) {
    const auto state = static_cast<proto::PageState>(i);
    if (name == StateName(state)) return state;
  }
  return std::nullopt;
}

std::string PlaceName(proto::PagePlace place) {
  switch (place) {
    case proto::SCHEDULED:
      return "schedule";
    case proto::FINISHED:
      return "finished";
    default:
      return "frontier";
  }
}

std::string PhaseName(proto::RoundPhase phase) {
  return phase == proto::NO_ROUND ? "none"
                                  : LowerCase(proto::RoundPhase_Name(phase));
}

std::string UrlOfPage(std::string_view page) {
  const absl::StatusOr<std::string> url =
      storage::UrlFromSurt(storage::SurtOf(page));
  return url.ok() ? *url : std::string(storage::SurtOf(page));
}

std::string HostOfKey(std::string_view host) {
  const absl::StatusOr<std::string> text =
      storage::UrlFromSurt(std::string(storage::SurtOf(host)) + "http/");
  if (!text.ok()) return std::string(storage::SurtOf(host));
  const absl::StatusOr<storage::Url> url = storage::Url::Parse(*text);
  return url.ok() ? std::string(url->host()) : *text;
}

absl::StatusOr<storage::Url> CanonicalUrl(const SiteConfig& config,
                                          std::string_view text) {
  const auto canonicaliser =
      storage::Canonicaliser::Create(CanonicalRulesOf(config));
  if (!canonicaliser.ok()) return canonicaliser.status();
  storage::Url url;
  const storage::UrlOutcome outcome =
      canonicaliser->Canonicalise(text, nullptr, url);
  if (outcome == storage::UrlOutcome::kOk) return url;
  return absl::InvalidArgumentError(
      fmt::format("'{}' is not an http or https URL ({})", text,
                  storage::UrlOutcomeName(outcome)));
}

absl::StatusOr<std::string> CanonicalHost(std::string_view text) {
  // A port is refused: whether it is dropped would depend on its number.
  const bool is_bare =
      text.find_first_of(text.starts_with('[') ? "/@?#\\" : "/@?#\\:") ==
      std::string_view::npos;
  absl::StatusOr<storage::Url> url = absl::InvalidArgumentError("");
  if (is_bare)
    url = CanonicalUrl(SiteConfig{}, fmt::format("http://{}/", text));
  if (!url.ok() || url->has_port()) {
    return absl::InvalidArgumentError(fmt::format(
        "'{}' is not the name of a host, such as www.example.com", text));
  }
  return std::string(url->host());
}

storage::HostKey KeyOfHost(std::string_view canonical_host) {
  const auto url =
      storage::Url::Parse(fmt::format("http://{}/", canonical_host));
  if (!url.ok()) return {};
  return {std::string(storage::HostPartOf(storage::PageKeyOf(*url).bytes))};
}

absl::StatusOr<absl::Time> ParseTime(std::string_view text, absl::Time now) {
  const std::optional<absl::Duration> ago = ParseDuration(text);
  if (ago.has_value()) return now - *ago;
  absl::Time time;
  for (const char* format : {"%Y-%m-%d", "%Y-%m-%dT%H:%M:%E*S%Ez",
                             "%Y-%m-%dT%H:%M:%E*S", "%Y-%m-%d %H:%M:%E*S"}) {
    std::string error;
    if (absl::ParseTime(format, std::string(text), &time, &error)) return time;
  }
  return absl::InvalidArgumentError(
      fmt::format("'{}' is not a time; allowed are 2026-01-31, "
                  "2026-01-31T23:59:59Z, and 24h for a day ago",
                  text));
}

std::string Rfc3339(int64_t ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMillis(ms),
                          absl::UTCTimeZone());
}

}  // namespace gannet::sites
