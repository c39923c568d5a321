// `gannet archive list|finish|release FILE`: finished WARC files.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddArchiveCommand(Command& parent);

}  // namespace gannet::sites
