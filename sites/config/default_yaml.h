// The site.yaml that `gannet init` writes: every key, with its default and the
// reason for it. Functions only; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace gannet::sites {

// Parses back to the defaults but for the name.
// REQUIRES: `name` is one that site.name allows.
std::string DefaultSiteYaml(std::string_view name);

}  // namespace gannet::sites
