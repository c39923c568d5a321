#include "sites/console/federation_verify_command.h"

#include <memory>

#include "sites/console/ask_site.h"
#include "sites/console/verification_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  bool full = false;
};

}  // namespace

void AddFederationVerifyCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("verify", "check the invariants of all sites, while they run");
  flags->site.AddAskFlags(command);
  command.Flag("--full", flags->full,
               "look at every page, not only at those that changed since the "
               "last check that passed");
  command.Example(
      "gannet federation verify --data ./tokyo",
      "Every site checks itself, and what each says that it sent and "
      "received\nis compared. Exit code 1 if something is broken.");
  command.Run([flags] {
    return AskVerification(flags->site, &Admin::VerifyFederation, flags->full);
  });
}

}  // namespace gannet::sites
