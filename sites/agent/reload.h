// What a changed site.yaml means for a running agent: which keys are taken up
// from the next round on, and which need a restart. Functions; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sites/config/site_config.h"

namespace gannet::sites {

struct ConfigChange {
  std::vector<std::string> changed;        // Taken up.
  std::vector<std::string> needs_restart;  // Left as they were.
  SiteConfig config;                       // In force from now on.
};

ConfigChange ChangeConfig(const SiteConfig& now, const SiteConfig& file);

// True for "fetch.delay"; false for "listen.http" and "archive.prefix", which
// servers and the store got when they were made.
bool CanBeReloaded(std::string_view key);

}  // namespace gannet::sites
