#include <fmt/format.h>

#include <memory>

#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/run_rounds.h"
#include "sites/console/site_flags.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  bool stop = false, pause = false, resume = false, reload = false;
};

std::string StateForPeople(const admin::RoundsState& state) {
  std::string text = fmt::format("rounds: {} (schedule: {})\n", state.state(),
                                 state.schedule());
  if (!state.last_error().empty()) {
    text += fmt::format("last round: {}\n", ForTerminal(state.last_error()));
  }
  return text;
}

std::string ReloadForPeople(const admin::Reloaded& reloaded) {
  std::string text;
  for (const std::string& key : reloaded.changed()) {
    text += fmt::format("{}: in force from the next round on\n", key);
  }
  for (const std::string& key : reloaded.needs_restart()) {
    text += fmt::format("{}: needs a restart of the agent\n", key);
  }
  return text.empty() ? "nothing has changed\n" : text;
}

ExitCode Round(const Flags& flags) {
  if (flags.stop + flags.pause + flags.resume + flags.reload > 1) {
    return Report(absl::InvalidArgumentError(
        "one of --stop, --pause, --resume and --reload at a time"));
  }
  if (flags.stop) {
    return AskSite<admin::StopRoundsRequest, admin::RoundsState>(
        flags.site, &Admin::StopRounds, {}, StateForPeople);
  }
  if (flags.pause) {
    return AskSite<admin::PauseRoundsRequest, admin::RoundsState>(
        flags.site, &Admin::PauseRounds, {}, StateForPeople);
  }
  if (flags.resume) {
    return AskSite<admin::ResumeRoundsRequest, admin::RoundsState>(
        flags.site, &Admin::ResumeRounds, {}, StateForPeople);
  }
  if (flags.reload) {
    return AskSite<admin::ReloadRequest, admin::Reloaded>(
        flags.site, &Admin::Reload, {}, ReloadForPeople);
  }
  const absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  const auto reached = ReachedSite::Reach(*site);
  if (!reached.ok()) return Report(reached.status());
  return RunRounds(*site, flags.site, **reached);
}

}  // namespace

void AddRoundCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command = parent.Add("round", "run rounds now");
  flags->site.AddAskFlags(command);
  flags->site.AddQuietFlag(command);
  flags->site.AddFetchFlags(command);
  flags->site.AddRoundFlags(command, "10m");
  command.Flag("--stop", flags->stop,
               "stop the running round safely; the next run goes on with it");
  command.Flag("--pause", flags->pause,
               "let the agent begin no round until --resume, except those "
               "that a 'gannet round' has asked for and still waits for");
  command.Flag("--resume", flags->resume, "end a pause");
  command.Flag("--reload", flags->reload, "let the agent read site.yaml again");
  command.Example(
      "gannet round --data ./tokyo --rounds 3",
      "A round chooses pages that are ready, fetches them, and takes in their\n"
      "links. Without --rounds, it goes on until nothing is left that becomes\n"
      "ready within --wait. A round that was interrupted is finished first.\n"
      "Ctrl-C stops safely: the next 'gannet round' goes on. If an agent runs\n"
      "the site ('gannet serve'), it runs the rounds, and Ctrl-C here only\n"
      "stops watching them.");
  command.Run([flags] { return Round(*flags); });
}

}  // namespace gannet::sites
