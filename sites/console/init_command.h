// `gannet init DIR`: writes a commented site.yaml.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

void AddInitCommand(Command& parent);

}  // namespace gannet::sites
