#include "sites/console/commands.h"
#include "sites/console/verification.h"

namespace gannet::sites {

void AddVerifyCommand(Command& parent) {
  Command& command =
      parent.Add("verify", "check that a site's data is consistent");
  MakeVerification(command, &Admin::Verify);
  command.Example(
      "gannet verify --data ./tokyo --full",
      "Exit code 0 if all is consistent, 1 if something is broken.");
}

}  // namespace gannet::sites
