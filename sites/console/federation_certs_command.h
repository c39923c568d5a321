// `gannet federation certs`: the certificates of sites and administrators.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddFederationCertsCommand(Command& parent);

}  // namespace gannet::sites
