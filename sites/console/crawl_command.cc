#include "sites/console/crawl_command.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "sites/console/injection.h"
#include "sites/console/open_site.h"
#include "sites/console/round_settings.h"
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
  // Before anything is made: a crawl that may not begin leaves no folder.
  if (auto prepared = PrepareRounds(site->config); !prepared.ok()) {
    return Report(prepared.status());
  }
  auto store = OpenSite(*site, IfMissing::kMake);
  if (!store.ok()) return Report(store.status());
  Injection injection((*store)->crawl_db());
  absl::Status read = injection.ReadAll(site->config, flags.sources);
  if (!read.ok()) return Report(read);
  if (injection.nothing_was_good()) {
    return Report(absl::InvalidArgumentError("no URL to begin with"));
  }
  return RunRounds(*site, flags.site, **store);
}

}  // namespace

void AddCrawlCommand(CLI::App& app, ExitCode& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "crawl", "crawl from these URLs until nothing is left");
  command
      ->add_option("URL|FILE", flags->sources,
                   "where to begin: URLs, and files with a URL a line")
      ->required();
  flags->site.AddDataFlags(*command);
  flags->site.AddQuietFlag(*command);
  flags->site.AddFetchFlags(*command);
  flags->site.AddRoundFlags(*command);
  command->footer(
      "Example:\n  gannet crawl https://example.org/ --data ./example "
      "--contact mailto:me@example.org\n\n"
      "Makes a site in the data folder, or goes on with the one there. "
      "Without\n"
      "a limit it follows every link to every host: urls.allow in site.yaml\n"
      "('gannet init') keeps it where you want it, --rounds ends it early.\n"
      "Ctrl-C stops safely; the same command goes on.");
  command->callback([flags, &exit_code] { exit_code = Crawl(*flags); });
}

}  // namespace gannet::sites
