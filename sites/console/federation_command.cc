#include "sites/console/federation_command.h"

#include "sites/console/federation_certs_command.h"
#include "sites/console/federation_change_commands.h"
#include "sites/console/federation_plan_command.h"
#include "sites/console/federation_status_command.h"
#include "sites/console/federation_verify_command.h"

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
