// `gannet check robots URL --file F --agent A`: does this robots.txt let that
// agent fetch the URL, and by which line? Needs no network and no site.
#pragma once

#include <CLI/CLI.hpp>

#include "sites/console/exit_code.h"

namespace gannet::sites {

// Adds the command to `check`; when it is chosen, it sets `exit_code`.
void AddCheckRobotsCommand(CLI::App& check, ExitCode& exit_code);

}  // namespace gannet::sites
