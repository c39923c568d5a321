#include "sites/console/round_command.h"

#include <memory>

#include "sites/console/open_site.h"
#include "sites/console/run_rounds.h"
#include "sites/console/site_flags.h"

namespace gannet::sites {
namespace {

ExitCode Round(const SiteFlags& flags) {
  absl::StatusOr<ChosenSite> site = flags.Site();
  if (!site.ok()) return Report(site.status());
  auto store = OpenSite(*site);
  if (!store.ok()) return Report(store.status());
  return RunRounds(*site, flags, **store);
}

}  // namespace

void AddRoundCommand(CLI::App& app, ExitCode& exit_code) {
  auto flags = std::make_shared<SiteFlags>();
  CLI::App* command = app.add_subcommand("round", "run rounds now");
  flags->AddDataFlags(*command);
  flags->AddQuietFlag(*command);
  flags->AddFetchFlags(*command);
  flags->AddRoundFlags(*command);
  command->footer(
      "Example:\n  gannet round --data ./tokyo --rounds 3\n\n"
      "Without --rounds it goes on until nothing is left that becomes ready\n"
      "within --wait. A round that was cut off is ended first. Ctrl-C stops\n"
      "safely: the next 'gannet round' goes on.");
  command->callback([flags, &exit_code] { exit_code = Round(*flags); });
}

}  // namespace gannet::sites
