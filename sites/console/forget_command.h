// `gannet forget URL`: a page is no longer known.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddForgetCommand(Command& parent);

}  // namespace gannet::sites
