// `gannet federation verify`: the invariants of all sites.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddFederationVerifyCommand(Command& parent);

}  // namespace gannet::sites
