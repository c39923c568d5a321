// `gannet block DOMAIN`: a webmaster complained.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddBlockCommand(Command& parent);

}  // namespace gannet::sites
