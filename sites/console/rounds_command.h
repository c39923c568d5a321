// `gannet rounds [N]`: the reports of the last rounds.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddRoundsCommand(Command& parent);

}  // namespace gannet::sites
