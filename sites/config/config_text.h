// A configuration written down as YAML: every key, with the value in force.
// ParseSiteConfig() reads it back. A function; thread-safe.
#pragma once

#include <string>

#include "sites/config/site_config.h"

namespace gannet::sites {

std::string ConfigText(const SiteConfig& config);

}  // namespace gannet::sites
