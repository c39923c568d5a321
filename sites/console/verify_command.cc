#include "sites/console/verify_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "sites/console/open_site.h"
#include "sites/console/output.h"
#include "sites/console/site_flags.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  bool full = false;
};

std::string ForMachines(const std::vector<storage::Check>& checks, bool ok) {
  nlohmann::json list = nlohmann::json::array();
  for (const storage::Check& check : checks) {
    list.push_back(
        {{"name", check.name}, {"ok", check.ok}, {"detail", check.detail}});
  }
  return JsonText({{"ok", ok}, {"checks", list}}) + "\n";
}

std::string ForPeople(const std::vector<storage::Check>& checks, bool ok) {
  std::string text;
  for (const storage::Check& check : checks) {
    text += fmt::format("{}  {}: {}\n", check.ok ? "ok    " : "BROKEN",
                        check.name, ForTerminal(check.detail));
  }
  return text +
         (ok ? "all invariants hold\n"
             : "an invariant is broken: stop crawling with this data folder, "
               "and restore a backup\n");
}

ExitCode Verify(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  auto store = OpenSite(*site);
  if (!store.ok()) return Report(store.status());
  absl::StatusOr<std::vector<storage::Check>> checks =
      (*store)->Verify(flags.full);
  if (!checks.ok()) return Report(checks.status());
  bool ok = true;
  for (const storage::Check& check : *checks) ok = ok && check.ok;
  Output out;
  out.Write(flags.site.json() ? ForMachines(*checks, ok)
                              : ForPeople(*checks, ok));
  const ExitCode written = out.Finish();
  return ok ? written : kFailed;
}

}  // namespace

void AddVerifyCommand(CLI::App& app, ExitCode& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("verify", "check the invariants of a data folder");
  flags->site.AddDataFlags(*command);
  command->add_flag("--full", flags->full,
                    "look at every page, not only at those that changed since "
                    "the last check that passed");
  command->footer(
      "Example:\n  gannet verify --data ./tokyo --full\n\n"
      "Exit code 0 if all holds, 1 if an invariant is broken.");
  command->callback([flags, &exit_code] { exit_code = Verify(*flags); });
}

}  // namespace gannet::sites
