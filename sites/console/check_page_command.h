// gannet check page URL: what a round would do with the page, and why. One page
// is fetched, nothing is stored.
#pragma once

#include <CLI/CLI.hpp>

#include "sites/console/exit_code.h"

namespace gannet::sites {

void AddCheckPageCommand(CLI::App& check, ExitCode& exit_code);

}  // namespace gannet::sites
