#include "sites/console/verify_command.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "sites/console/ask_site.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  bool full = false;
};

std::string ForPeople(const admin::Verification& reply) {
  std::string text;
  for (const admin::Verification::Check& check : reply.checks()) {
    text += fmt::format("{}  {}: {}\n", check.ok() ? "ok    " : "BROKEN",
                        check.name(), ForTerminal(check.detail()));
  }
  return text + (reply.ok()
                     ? "all invariants hold\n"
                     : "an invariant is broken: stop crawling with this data "
                       "folder, and restore a backup\n");
}

ExitCode Verify(const Flags& flags) {
  admin::VerifyRequest request;
  request.set_full(flags.full);
  bool ok = true;
  const ExitCode code = AskSite<admin::VerifyRequest, admin::Verification>(
      flags.site, &Admin::Verify, request,
      [&](const admin::Verification& reply) {
        ok = reply.ok();
        return ForPeople(reply);
      },
      [&](const admin::Verification& reply) {
        ok = reply.ok();
        return MessageJson(reply);
      });
  return ok ? code : kFailed;
}

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
  command.Run([flags] { return Verify(*flags); });
}

}  // namespace gannet::sites
