// What the jobs are to be told, made from the site's configuration. Functions
// only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "jobs/round/round.h"
#include "sites/config/site_config.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"

namespace gannet::sites {

// The settings, and what they point at.
struct PreparedRounds {
  std::unique_ptr<storage::Canonicaliser> canonicaliser;
  std::unique_ptr<storage::UrlFilter> filter;
  jobs::RoundSettings settings;
  // What the operator should know before rounds begin.
  std::vector<std::string> notices;
};

// kInvalidArgument if the configuration allows no crawl: above all, if it has
// no contact to whom webmasters can write.
absl::StatusOr<PreparedRounds> PrepareRounds(const SiteConfig& config);

// To as many as this process may have open: a connection each, the files of the
// crawl DB, and some. Returns the limit.
uint64_t RaiseFileLimit();

// Lowers this process's priority if that was chosen.
void PrepareProcess(const SiteConfig& config);

// "examplebot/1.0 (+https://example.org/bot)"
std::string UserAgentOf(const SiteConfig& config);

}  // namespace gannet::sites
