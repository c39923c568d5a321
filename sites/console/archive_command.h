// `gannet archive list|release FILE`: finished WARC files.
#pragma once

#include <CLI/CLI.hpp>

#include "sites/console/exit_code.h"

namespace gannet::sites {

// Adds the command to `app`; when it is chosen, it sets `exit_code`.
void AddArchiveCommand(CLI::App& app, ExitCode& exit_code);

}  // namespace gannet::sites
