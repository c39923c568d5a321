// `gannet federation plan`: what a change would move.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddFederationPlanCommand(Command& parent);

}  // namespace gannet::sites
