#include "sites/console/verification.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "sites/console/ask_site.h"
#include "sites/console/exit_code.h"
#include "sites/console/site_flags.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  bool full = false;
};

ExitCode CodeOf(const admin::Verification& reply) {
  if (reply.ok()) return kDone;
  for (const admin::Verification::Check& check : reply.checks()) {
    if (!check.ok() && !check.unanswered()) return kFailed;
  }
  return kNotReachable;
}

// A site that was away is no reason to restore a backup.
const char* Advice(ExitCode code) {
  switch (code) {
    case kDone:
      return "all invariants hold\n";
    case kNotReachable:
      return "what could be checked holds, but not all sites answered: 'gannet "
             "federation status' says why; verify again when they do\n";
    default:
      return "an invariant is broken: stop crawling with this data folder (in "
             "a federation, that of the site named), and restore a backup\n";
  }
}

std::string ForPeople(const admin::Verification& reply) {
  std::string text;
  for (const admin::Verification::Check& check : reply.checks()) {
    const char* word = check.ok()           ? "ok    "
                       : check.unanswered() ? "UNKNOWN"
                                            : "BROKEN";
    text += fmt::format("{:<7} {}: {}\n", word, ForTerminal(check.name()),
                        ForTerminal(check.detail()));
  }
  return text + Advice(CodeOf(reply));
}

}  // namespace

void MakeVerification(Command& command,
                      absl::Status (Admin::*verb)(const admin::VerifyRequest&,
                                                  admin::Verification&)) {
  auto flags = std::make_shared<Flags>();
  flags->site.AddAskFlags(command);
  command.Flag("--full", flags->full,
               "check every page, not only those that changed since the last "
               "check that passed");
  command.Run([flags, verb] {
    admin::VerifyRequest request;
    request.set_full(flags->full);
    ExitCode found = kDone;
    const ExitCode printed = AskSite<admin::VerifyRequest, admin::Verification>(
        flags->site, verb, request,
        [&](const admin::Verification& reply) {
          found = CodeOf(reply);
          return ForPeople(reply);
        },
        [&](const admin::Verification& reply) {
          found = CodeOf(reply);
          return MessageJson(reply);
        });
    return found == kDone ? printed : found;
  });
}

}  // namespace gannet::sites
