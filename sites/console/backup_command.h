// `gannet backup` and `gannet restore`: a copy of a site, also of one that
// crawls, and a site made from one.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddBackupCommand(Command& parent);
void AddRestoreCommand(Command& parent);

}  // namespace gannet::sites
