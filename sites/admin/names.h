// Names of what the crawl DB keeps as keys and numbers, as commands print and
// read them. Functions only; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/crawl_db.pb.h"
#include "sites/config/site_config.h"
#include "storage/crawl_db/keys.h"

namespace gannet::sites {

// "new", "fetched", ...
std::string StateName(proto::PageState state);
std::optional<proto::PageState> StateOf(std::string_view name);
// "frontier", "schedule", "finished"; of pages in the open round: "frontier".
std::string PlaceName(proto::PagePlace place);
// "none", "generate", ...
std::string PhaseName(proto::RoundPhase phase);

// The URL of a page's key.
std::string UrlOfPage(std::string_view page);
// "www.example.com" of a host's key.
std::string HostOfKey(std::string_view host);

// kInvalidArgument says why it is none.
absl::StatusOr<storage::Url> CanonicalUrl(const SiteConfig& config,
                                          std::string_view text);
absl::StatusOr<std::string> CanonicalHost(std::string_view text);
storage::HostKey KeyOfHost(std::string_view canonical_host);

// "2026-01-31", "2026-01-31T23:59:59Z", or a duration: so long ago.
absl::StatusOr<absl::Time> ParseTime(std::string_view text, absl::Time now);
// RFC 3339; null JSON is the caller's affair.
std::string Rfc3339(int64_t ms);

}  // namespace gannet::sites
