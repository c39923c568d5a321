// `gannet federation ...`: what changes the map: `invite`, `join`, `leave`,
// `remove`, `pause`, `switch`, `adopt`.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddFederationChangeCommands(Command& parent);

}  // namespace gannet::sites
