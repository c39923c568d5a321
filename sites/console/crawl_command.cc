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

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::vector<std::string> sources;
};

ExitCode Crawl(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
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
  Injection injection((*reached)->admin());
  const absl::Status read = injection.ReadAll(flags.sources);
  if (!read.ok()) return Report(read);
  if (injection.nothing_was_good()) {
    return Report(absl::InvalidArgumentError("no URL to begin with"));
  }
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
  flags->site.AddDataFlags(command);
  flags->site.AddQuietFlag(command);
  flags->site.AddFetchFlags(command);
  flags->site.AddRoundFlags(command);
  command.Example(
      "gannet crawl https://example.org/ --data ./example "
      "--contact mailto:me@example.org",
      "Makes a site in the data folder, or goes on with the one there. "
      "Without\n"
      "a limit it follows every link to every host: urls.allow in site.yaml\n"
      "('gannet init') keeps it where you want it, --rounds ends it early.\n"
      "Ctrl-C stops safely; the same command goes on.");
  command.Run([flags] { return Crawl(*flags); });
}

}  // namespace gannet::sites
