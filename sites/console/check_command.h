// `gannet check url|robots URL`: what would be done, and why.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddCheckCommand(Command& parent);

}  // namespace gannet::sites
