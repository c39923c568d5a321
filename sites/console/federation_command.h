// `gannet federation certs`: what is asked of a federation, and made for one.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddFederationCommand(Command& parent);

}  // namespace gannet::sites
