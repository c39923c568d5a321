// `gannet crawl URL...`: the shortest path: make a site or go on with one,
// inject, run rounds until nothing is left.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddCrawlCommand(Command& parent);

}  // namespace gannet::sites
