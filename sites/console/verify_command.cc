#include "sites/console/verify_command.h"

#include <memory>

#include "sites/console/verification_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  bool full = false;
};

}  // namespace

void AddVerifyCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("verify", "check the invariants of a data folder");
  flags->site.AddAskFlags(command);
  command.Flag("--full", flags->full,
               "look at every page, not only at those that changed since "
               "the last check that passed");
  command.Example("gannet verify --data ./tokyo --full",
                  "Exit code 0 if all holds, 1 if an invariant is broken.");
  command.Run([flags] {
    return AskVerification(flags->site, &Admin::Verify, flags->full);
  });
}

}  // namespace gannet::sites
