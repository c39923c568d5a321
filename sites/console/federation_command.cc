#include "sites/console/commands.h"

namespace gannet::sites {

void AddFederationCommand(Command& parent) {
  Command& command = parent.Add(
      "federation", "manage several sites that crawl one web together");
  AddFederationStatusCommand(command);
  AddFederationChangeCommands(command);
  AddFederationPlanCommand(command);
  AddFederationVerifyCommand(command);
  AddFederationCertsCommand(command);
  command.Example("gannet federation status --data ./tokyo");
}

}  // namespace gannet::sites
