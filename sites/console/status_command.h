// `gannet status`: what the site knows, and what it is doing.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddStatusCommand(Command& parent);

}  // namespace gannet::sites
