#include "sites/console/verification_text.h"

#include <fmt/format.h>

#include <string>

#include "sites/console/ask_site.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

std::string ForPeople(const admin::Verification& reply) {
  std::string text;
  for (const admin::Verification::Check& check : reply.checks()) {
    text += fmt::format("{}  {}: {}\n", check.ok() ? "ok    " : "BROKEN",
                        ForTerminal(check.name()), ForTerminal(check.detail()));
  }
  return text + (reply.ok()
                     ? "all invariants hold\n"
                     : "an invariant is broken: stop crawling with this data "
                       "folder, and restore a backup\n");
}

}  // namespace

ExitCode AskVerification(const SiteFlags& flags,
                         absl::Status (Admin::*verb)(
                             const admin::VerifyRequest&, admin::Verification&),
                         bool full) {
  admin::VerifyRequest request;
  request.set_full(full);
  bool ok = true;
  const ExitCode code = AskSite<admin::VerifyRequest, admin::Verification>(
      flags, verb, request,
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

}  // namespace gannet::sites
