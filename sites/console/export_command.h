// `gannet export urls|cdxj|links|fetches`: takes data out.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddExportCommand(Command& parent);

}  // namespace gannet::sites
