// `gannet serve`: the site as a service.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddServeCommand(Command& parent);

}  // namespace gannet::sites
