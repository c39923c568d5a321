#include "sites/console/verify_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "storage/site_store/site_store.h"

namespace gannet::sites {
namespace {

struct Flags {
  std::string data = ".";
  bool full = false;
  bool json = false;
};

void PrintForMachines(const std::vector<storage::Check>& checks, bool ok) {
  nlohmann::json list = nlohmann::json::array();
  for (const storage::Check& check : checks) {
    list.push_back(
        {{"name", check.name}, {"ok", check.ok}, {"detail", check.detail}});
  }
  // URLs may hold any bytes.
  fmt::print("{}\n",
             nlohmann::json{{"ok", ok}, {"checks", list}}.dump(
                 -1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void PrintForPeople(const std::vector<storage::Check>& checks, bool ok) {
  for (const storage::Check& check : checks) {
    fmt::print("{}  {}: {}\n", check.ok ? "ok    " : "BROKEN", check.name,
               check.detail);
  }
  fmt::print("{}\n",
             ok ? "all invariants hold"
                : "an invariant is broken: stop crawling with this data "
                  "folder, and restore a backup");
}

ExitCode Verify(const Flags& flags) {
  storage::SiteStoreSettings settings;
  settings.folder = flags.data;
  absl::StatusOr<std::unique_ptr<storage::SiteStore>> store =
      storage::SiteStore::Open(settings);
  if (!store.ok()) return Report(store.status());
  absl::StatusOr<std::vector<storage::Check>> checks =
      (*store)->Verify(flags.full);
  if (!checks.ok()) return Report(checks.status());
  bool ok = true;
  for (const storage::Check& check : *checks) ok = ok && check.ok;
  if (flags.json) {
    PrintForMachines(*checks, ok);
  } else {
    PrintForPeople(*checks, ok);
  }
  return ok ? kDone : kFailed;
}

}  // namespace

void AddVerifyCommand(CLI::App& app, ExitCode& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("verify", "check the invariants of a data folder");
  command->add_option("--data", flags->data, "the site's data folder")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_flag("--full", flags->full,
                    "look at every page, not only at those that changed since "
                    "the last check that passed");
  command->add_flag("--json", flags->json, "print one JSON object");
  command->footer(
      "Example:\n  gannet verify --data ./tokyo --full\n\n"
      "Exit code 0 if all holds, 1 if an invariant is broken.");
  command->callback([flags, &exit_code] { exit_code = Verify(*flags); });
}

}  // namespace gannet::sites
