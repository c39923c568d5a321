// `gannet block DOMAIN`: a webmaster complained.
#pragma once

#include <CLI/CLI.hpp>

#include "sites/console/exit_code.h"

namespace gannet::sites {

// Adds the command to `app`; when it is chosen, it sets `exit_code`.
void AddBlockCommand(CLI::App& app, ExitCode& exit_code);

}  // namespace gannet::sites
