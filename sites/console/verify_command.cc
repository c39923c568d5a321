#include "sites/console/commands.h"
#include "sites/console/verification.h"

namespace gannet::sites {

void AddVerifyCommand(Command& parent) {
  Command& command =
      parent.Add("verify", "check the invariants of a data folder");
  MakeVerification(command, &Admin::Verify);
  command.Example("gannet verify --data ./tokyo --full",
                  "Exit code 0 if all holds, 1 if an invariant is broken.");
}

}  // namespace gannet::sites
