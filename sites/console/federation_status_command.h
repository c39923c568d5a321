// `gannet federation status`: how the federation is doing.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddFederationStatusCommand(Command& parent);

}  // namespace gannet::sites
