#include "sites/console/commands.h"
#include "sites/console/verification.h"

namespace gannet::sites {

void AddFederationVerifyCommand(Command& parent) {
  Command& command =
      parent.Add("verify", "check all sites' data, while they run");
  MakeVerification(command, &Admin::VerifyFederation);
  command.Example(
      "gannet federation verify --data ./tokyo",
      "Every site checks itself, and what each says that it sent and "
      "received\nis compared. Exit code 1 if something is broken, 4 if "
      "nothing is, but a site\ndid not answer.");
}

}  // namespace gannet::sites
