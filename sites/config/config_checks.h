// Checks between keys of site.yaml, after each has been checked by itself. A
// function; safe from any thread.
#pragma once

#include <yaml-cpp/yaml.h>

#include "sites/config/site_config.h"
#include "sites/config/yaml_section.h"

namespace gannet::sites {

// Adds what is wrong to `problems`. `root` is the file, for the places.
void CheckTogether(const YAML::Node& root, const SiteConfig& config,
                   YamlProblems& problems);

}  // namespace gannet::sites
