#include <fmt/format.h>

#include <memory>
#include <string>

#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string domain;
  bool undo = false;
  bool list = false;
};

std::string ListForPeople(const admin::BlockedDomains& reply) {
  std::string text;
  for (const std::string& domain : reply.blocked()) {
    text += ForTerminal(domain) + "\n";
  }
  return text;
}

std::string ChangeForPeople(const admin::BlockChange& change) {
  if (!change.blocked()) {
    return fmt::format(
        "{} is no longer blocked; {} pages are back where they were\n",
        change.domain(), change.pages());
  }
  return fmt::format("{} is blocked; {} pages were taken out\n",
                     change.domain(), change.pages());
}

void Note(const admin::BlockChange& change) {
  if (!change.note().empty()) fmt::print(stderr, "note: {}\n", change.note());
  if (!change.blocked() || !change.is_public_suffix()) return;
  fmt::print(stderr,
             "note: {} is a public suffix: only the host of that name is "
             "blocked; to keep out all below it, add it to "
             "urls.deny.domains\n",
             change.domain());
}

ExitCode Block(const Flags& flags) {
  if (flags.list != flags.domain.empty() || (flags.list && flags.undo)) {
    return Report(absl::InvalidArgumentError(
        "name a domain, or ask for --list; see 'gannet block --help'"));
  }
  if (flags.list) {
    return AskSite<admin::ListBlockedRequest, admin::BlockedDomains>(
        flags.site, &Admin::ListBlocked, {}, ListForPeople);
  }
  admin::BlockRequest request;
  request.set_domain(flags.domain);
  request.set_undo(flags.undo);
  return AskSite<admin::BlockRequest, admin::BlockChange>(
      flags.site, &Admin::Block, request,
      [](const admin::BlockChange& change) {
        Note(change);
        return ChangeForPeople(change);
      },
      [](const admin::BlockChange& change) {
        Note(change);
        return MessageJson(change);
      });
}

}  // namespace

void AddBlockCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command = parent.Add(
      "block", "fetch nothing more from a domain (its webmaster complained)");
  command.Value("DOMAIN", flags->domain,
                "a domain with all its hosts, or one host");
  command.Flag("--undo", flags->undo, "end the block");
  command.Flag("--list", flags->list, "show what is blocked");
  flags->site.AddAskFlags(command);
  command.Example(
      "gannet block example.org --data ./tokyo",
      "Its known pages are no longer fetched, not even by the running round,\n"
      "and links to it are refused. --undo puts the pages back.");
  command.Run([flags] { return Block(*flags); });
}

}  // namespace gannet::sites
