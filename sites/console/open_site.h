// How a command opens a site's data folder. Functions only.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "sites/console/site_flags.h"
#include "storage/clock.h"
#include "storage/site_store/site_store.h"

namespace gannet::sites {

enum class IfMissing {
  kSayWhatToDo,      // Commands that look.
  kMakeIfHasConfig,  // `inject`: `init` was there before it.
  kMake,             // `crawl`.
};

// `clock` must outlive it. Errors say what to do: kNotFound no site there;
// kAborted another process has it open; kInvalidArgument the configuration is
// of another site.
absl::StatusOr<std::unique_ptr<storage::SiteStore>> OpenSite(
    const ChosenSite& site, IfMissing if_missing, storage::Clock& clock);

storage::SiteStoreSettings StoreSettingsOf(const SiteConfig& config);

}  // namespace gannet::sites
