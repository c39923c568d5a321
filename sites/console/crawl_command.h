// `gannet crawl URL...`: the shortest path: make a site or go on with one,
// inject, run rounds until nothing is left.
#pragma once

#include <CLI/CLI.hpp>

#include "sites/console/exit_code.h"

namespace gannet::sites {

// Adds the command to `app`; when it is chosen, it sets `exit_code`.
void AddCrawlCommand(CLI::App& app, ExitCode& exit_code);

}  // namespace gannet::sites
