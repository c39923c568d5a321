#include "sites/console/open_site.h"

#include <fmt/format.h>

#include <random>

#include "jobs/fetch/socket_budget.h"
#include "sites/agent/round_settings.h"

namespace gannet::sites {
namespace {

// A site gets its identity once, when it is made: the incarnation tells it from
// any other life that a site of this name had or will have.
absl::Status EnsureIdentity(storage::CrawlDb& db, const SiteConfig& config) {
  absl::StatusOr<proto::SiteIdentity> identity = db.records().identity();
  if (!identity.ok()) return identity.status();
  if (!identity->name().empty()) {
    if (config.site.name == SiteSection{}.name ||
        config.site.name == identity->name()) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        fmt::format("{} belongs to the site '{}', and the configuration names "
                    "'{}'; correct "
                    "site.name, or choose another data folder",
                    config.site.data, identity->name(), config.site.name));
  }
  std::random_device random;
  identity->set_name(config.site.name);
  identity->set_incarnation(uint64_t{random()} << 32 | random());
  return db.records().SetIdentity(*identity);
}

}  // namespace

storage::SiteStoreSettings StoreSettingsOf(const SiteConfig& config) {
  storage::SiteStoreSettings settings;
  settings.folder = config.site.data;
  settings.order = config.crawl.order;
  settings.block_cache_bytes = config.crawl_db.cache;
  settings.write_buffer_bytes = config.crawl_db.write_buffers;
  settings.max_open_files =
      jobs::FitSockets(/*connections=*/0, /*idle=*/0, RaiseFileLimit())
          .db_files;
  settings.archive.prefix = config.archive.prefix;
  settings.archive.site = config.site.name;
  settings.archive.file_size = config.archive.file_size;
  settings.archive.min_free = config.archive.min_free;
  settings.archive.level = static_cast<int>(config.archive.level);
  settings.archive.info = {{"http-header-user-agent", config.user_agent.name},
                           {"robots", "obey"}};
  if (!config.user_agent.contact.empty()) {
    settings.archive.info.emplace_back("operator", config.user_agent.contact);
  }
  return settings;
}

absl::StatusOr<std::unique_ptr<storage::SiteStore>> OpenSite(
    const ChosenSite& site, IfMissing if_missing, storage::Clock& clock) {
  storage::SiteStoreSettings settings = StoreSettingsOf(site.config);
  settings.create =
      if_missing == IfMissing::kMake ||
      (if_missing == IfMissing::kMakeIfHasConfig && site.has_file);
  absl::StatusOr<std::unique_ptr<storage::SiteStore>> store =
      storage::SiteStore::Open(settings, clock);
  if (absl::IsNotFound(store.status())) {
    const std::string& data = site.config.site.data;
    return absl::NotFoundError(fmt::format(
        "there is no site in {}; {}", data,
        site.has_file
            ? fmt::format("'gannet inject URL --data {}' makes one", data)
            : fmt::format("name its folder with --data, or make one: 'gannet "
                          "init {}'",
                          data)));
  }
  if (!store.ok()) return store;
  absl::Status named = EnsureIdentity((*store)->crawl_db(), site.config);
  if (!named.ok()) return named;
  return store;
}

}  // namespace gannet::sites
