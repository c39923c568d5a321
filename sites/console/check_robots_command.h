// `gannet check robots URL`: does a robots.txt (a file, or the host's own) let
// an agent fetch the URL, and by which line? With a file, without any network.
#pragma once

#include <CLI/CLI.hpp>

#include "sites/console/exit_code.h"

namespace gannet::sites {

// Adds the command to `check`; when it is chosen, it sets `exit_code`.
void AddCheckRobotsCommand(CLI::App& check, ExitCode& exit_code);

}  // namespace gannet::sites
