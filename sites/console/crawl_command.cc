#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "sites/agent/round_settings.h"
#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/injection.h"
#include "sites/console/run_rounds.h"
#include "sites/console/site_flags.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  ScopeFlags scope;
  std::vector<std::string> sources;
};

// The first line of a crawl: what it will not leave.
void SayScope(const std::string& words) {
  fmt::print(stderr, "scope: {} (--scope, --allow and --deny change it)\n",
             ForTerminal(words));
}

ExitCode Crawl(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  if (absl::Status s = flags.scope.Check(); !s.ok()) return Report(s);
  // Checked before anything is made: a crawl that may not begin leaves no
  // folder.
  if (auto prepared = PrepareRounds(site->config); !prepared.ok()) {
    return Report(prepared.status());
  }
  if (absl::Status s = CheckSources(site->config, flags.sources); !s.ok()) {
    return Report(s);
  }
  const auto reached = ReachedSite::Reach(*site, IfMissing::kMake);
  if (!reached.ok()) return Report(reached.status());
  if (absl::Status s = CheckFlags(flags.site, **reached); !s.ok()) {
    return Report(s);
  }
  ScopeFlags scope = flags.scope;
  scope.DefaultToDomains(site->config);
  Injection injection((*reached)->admin(), scope);
  const absl::Status read = injection.ReadAll(flags.sources);
  if (!read.ok()) return Report(read);
  if (injection.nothing_was_good()) {
    return Report(absl::InvalidArgumentError("no URL to begin with"));
  }
  if (!flags.site.quiet()) SayScope(injection.counts().scope());
  return RunRounds(*site, flags.site, **reached);
}

}  // namespace

void AddCrawlCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("crawl", "crawl from these URLs until nothing is left");
  command.Value("URL|FILE", flags->sources,
                "where to begin: URLs, or files with one URL per line",
                {.required = true});
  flags->scope.AddTo(command, "what the seed had, or domain");
  flags->site.AddDataFlags(command);
  flags->site.AddQuietFlag(command);
  flags->site.AddFetchFlags(command);
  flags->site.AddRoundFlags(command, "0");
  command.Example(
      "gannet crawl https://example.org/ --data ./example "
      "--contact mailto:me@example.org",
      "Makes a site in the data folder, or goes on with the one there. It "
      "stays\n"
      "on the domains of the URLs (--scope any follows every link, --scope\n"
      "prefix stays in a URL's folder), and ends when nothing is left, or "
      "when\n"
      "--max-pages, --max-time or --rounds say so. Ctrl-C stops safely; the\n"
      "same command goes on.");
  command.Run([flags] { return Crawl(*flags); });
}

}  // namespace gannet::sites
