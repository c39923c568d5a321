// `gannet verify [--full]`: are the invariants of the data folder true?
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddVerifyCommand(Command& parent);

}  // namespace gannet::sites
