// `gannet check robots URL`: does a robots.txt (a file, or the host's own) let
// an agent fetch the URL, and by which line? With a file, without any network.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddCheckRobotsCommand(Command& check);

}  // namespace gannet::sites
