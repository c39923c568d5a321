// `gannet page URL [--body]`: one page, its record and its content.
#pragma once

#include <CLI/CLI.hpp>

#include "sites/console/exit_code.h"

namespace gannet::sites {

// Adds the command to `app`; when it is chosen, it sets `exit_code`.
void AddPageCommand(CLI::App& app, ExitCode& exit_code);

}  // namespace gannet::sites
