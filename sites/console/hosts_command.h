// `gannet hosts [HOST]`: which hosts, how many pages, who rests.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddHostsCommand(Command& parent);

}  // namespace gannet::sites
