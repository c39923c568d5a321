// `gannet inject FILE|URL...`: adds seeds.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddInjectCommand(Command& parent);

}  // namespace gannet::sites
