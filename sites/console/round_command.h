// `gannet round`: run rounds now.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddRoundCommand(Command& parent);

}  // namespace gannet::sites
