// `gannet page URL [--body]`: one page, its record and its content.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddPageCommand(Command& parent);

}  // namespace gannet::sites
