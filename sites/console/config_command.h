// `gannet config`: the configuration in force.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddConfigCommand(Command& parent);

}  // namespace gannet::sites
