// gannet check page URL: what a round would do with the page, and why. One page
// is fetched, nothing is stored.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddCheckPageCommand(Command& check);

}  // namespace gannet::sites
