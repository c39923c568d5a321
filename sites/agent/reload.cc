#include "sites/agent/reload.h"

#include <algorithm>
#include <array>

namespace gannet::sites {

bool CanBeReloaded(std::string_view key) {
  static constexpr std::array<std::string_view, 6> kNot = {
      "archive.prefix", "archive.file_size", "archive.level",
      "crawl.order",    "log.format",        "fetch.low_priority"};
  for (const std::string_view section :
       {"site.", "listen.", "crawl_db.", "federation.", "tls."}) {
    if (key.starts_with(section)) return false;
  }
  return std::find(kNot.begin(), kNot.end(), key) == kNot.end();
}

ConfigChange ChangeConfig(const SiteConfig& now, const SiteConfig& file) {
  ConfigChange change;
  const auto old_values = SiteConfigValues(now);
  const auto new_values = SiteConfigValues(file);
  // Both are walks over the same schema.
  for (size_t i = 0; i < std::min(old_values.size(), new_values.size()); ++i) {
    if (old_values[i] == new_values[i]) continue;
    const std::string& key = new_values[i].first;
    // The rules of a federation are told when a site joins.
    const bool is_a_rule =
        key.starts_with("urls.") && now.federation.map != MapSource::kNone;
    (CanBeReloaded(key) && !is_a_rule ? change.changed : change.needs_restart)
        .push_back(key);
  }
  change.config = file;
  change.config.site = now.site;
  if (now.federation.map != MapSource::kNone) change.config.urls = now.urls;
  change.config.listen = now.listen;
  change.config.crawl_db = now.crawl_db;
  change.config.federation = now.federation;
  change.config.tls = now.tls;
  change.config.crawl.order = now.crawl.order;
  change.config.fetch.low_priority = now.fetch.low_priority;
  change.config.log.format = now.log.format;
  const uint64_t min_free = file.archive.min_free;
  change.config.archive = now.archive;
  change.config.archive.min_free = min_free;
  return change;
}

}  // namespace gannet::sites
