#include "sites/console/block_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "sites/console/names.h"
#include "sites/console/open_site.h"
#include "sites/console/output.h"
#include "sites/console/site_flags.h"
#include "sites/console/terminal_text.h"
#include "storage/url/domain.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string domain;
  bool undo = false;
  bool list = false;
};

ExitCode PrintList(storage::CrawlDb& db, bool json) {
  absl::StatusOr<std::vector<std::string>> blocked = db.Blocked();
  if (!blocked.ok()) return Report(blocked.status());
  Output out;
  if (json) {
    out.WriteJson({{"blocked", *blocked}});
  } else {
    for (const std::string& domain : *blocked) {
      out.Write(ForTerminal(domain) + "\n");
    }
  }
  return out.Finish();
}

// A name such as co.uk, of which an operator may expect more than he gets.
bool IsSuffix(const std::string& domain) {
  return !storage::RegistrableDomainIfAny(domain).has_value() &&
         domain.find('.') != std::string::npos &&
         domain.find_first_not_of("0123456789.") != std::string::npos;
}

ExitCode Change(const Flags& flags, storage::CrawlDb& db,
                const std::string& domain) {
  absl::StatusOr<int64_t> pages =
      flags.undo ? db.Unblock(domain) : db.Block(domain);
  if (absl::IsNotFound(pages.status())) {
    return Report(absl::FailedPreconditionError(fmt::format(
        "{} is not blocked; 'gannet block --list' shows what is", domain)));
  }
  if (!pages.ok()) return Report(pages.status());
  if (!flags.undo && IsSuffix(domain)) {
    fmt::print(
        stderr,
        "note: {} is a public suffix: only the host of that name is "
        "blocked; to keep out all below it, add it to urls.deny.domains\n",
        domain);
  }
  Output out;
  if (flags.site.json()) {
    out.WriteJson(
        {{"domain", domain}, {"blocked", !flags.undo}, {"pages", *pages}});
  } else if (flags.undo) {
    out.Write(
        fmt::format("{} is no longer blocked; {} pages are back in the "
                    "frontier\n",
                    domain, *pages));
  } else {
    out.Write(fmt::format("{} is blocked; {} pages were taken out\n", domain,
                          *pages));
  }
  return out.Finish();
}

ExitCode Block(const Flags& flags) {
  if (flags.list != flags.domain.empty() || (flags.list && flags.undo)) {
    return Report(absl::InvalidArgumentError(
        "name a domain, or ask for --list; see 'gannet block --help'"));
  }
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  std::string domain;
  if (!flags.list) {
    absl::StatusOr<std::string> host = CanonicalHost(flags.domain);
    if (!host.ok()) return Report(host.status());
    domain = *host;
  }
  auto store = OpenSite(*site);
  if (!store.ok()) return Report(store.status());
  if (flags.list) return PrintList((*store)->crawl_db(), flags.site.json());
  return Change(flags, (*store)->crawl_db(), domain);
}

}  // namespace

void AddBlockCommand(CLI::App& app, ExitCode& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "block", "fetch nothing more of a domain: a webmaster complained");
  command->add_option("DOMAIN", flags->domain,
                      "a domain with all its hosts, or one host");
  command->add_flag("--undo", flags->undo, "end the block");
  command->add_flag("--list", flags->list, "show what is blocked");
  flags->site.AddDataFlags(*command);
  command->footer(
      "Example:\n  gannet block example.org --data ./tokyo\n\n"
      "Known pages leave frontier, schedule and open round at once, and links\n"
      "to the domain are refused from now on. --undo puts them back.");
  command->callback([flags, &exit_code] { exit_code = Block(*flags); });
}

}  // namespace gannet::sites
