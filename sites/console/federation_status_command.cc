#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sites/config/quantity.h"
#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/terminal_text.h"
#include "sites/console/text_table.h"
#include "storage/clock.h"

namespace gannet::sites {
namespace {

constexpr absl::Duration kLookEvery = absl::Milliseconds(500);

struct Flags {
  SiteFlags site;
  std::string wait;
};

// Also names the sites that are not done: one that is away holds up the
// hand-off.
std::string Moving(const admin::FederationState& state) {
  const auto& done = state.handing_off().sites_done();
  std::vector<std::string> not_done;
  for (const admin::FederationSite& site : state.sites()) {
    if (site.state() == "invited" ||
        std::find(done.begin(), done.end(), site.name()) != done.end()) {
      continue;
    }
    const bool is_away = !site.is_self() && !site.alive();
    not_done.push_back(site.name() + (is_away ? " (AWAY)" : ""));
  }
  return fmt::format(
      "channels move for epoch {}: {} pages left, {} of {} sites are done{}\n",
      state.handing_off().epoch(), WithCommas(state.handing_off().pages_left()),
      done.size(), done.size() + not_done.size(),
      not_done.empty() ? ""
                       : fmt::format(", not {}", fmt::join(not_done, ", ")));
}

std::string Head(const admin::FederationState& state) {
  std::string text = fmt::format(
      "epoch {}, term {}; {}; placement {}; exchange {}\n", state.epoch(),
      state.term(),
      state.registrar().empty()
          ? "the map is a file"
          : fmt::format("registrar {}{}", state.registrar(),
                        state.registrar_reachable() ? "" : " (AWAY)"),
      state.placement(), state.exchange());
  if (state.paused()) text += "paused: no site begins a round\n";
  if (state.has_handing_off()) text += Moving(state);
  return text + (state.quiet() ? "quiet: nothing is left to do\n" : "");
}

std::string StateText(const admin::FederationSite& site) {
  if (site.state() == "invited") return "invited";
  if (site.is_self()) return site.state() + ", this site";
  return site.alive() ? site.state() : site.state() + ", AWAY";
}

std::string ForPeople(const admin::Federation& reply) {
  if (!reply.has_federation()) {
    return "this site is in no federation, or no agent runs it "
           "('gannet serve')\n";
  }
  const admin::FederationState& state = reply.federation();
  std::string text;
  if (!state.error().empty()) {
    text += "problem: " + ForTerminal(state.error()) + "\n";
  }
  if (state.sites_size() == 0) return text;
  text += Head(state);
  TextTable table({"site", "state", ">epoch", ">lag", ">share", ">pages",
                   ">frontier", ">outbox", ">pages/s", ">rtt", ">heard"});
  std::string problems;
  for (const admin::FederationSite& site : state.sites()) {
    // Of an invited one, or one not met yet, nothing is known.
    const bool has_map = site.epoch() != 0;
    table.Add({site.name(), StateText(site),
               has_map ? std::to_string(site.epoch()) : "-",
               has_map ? std::to_string(site.lag()) : "-",
               fmt::format("{:.0f} %", 100 * site.share()),
               WithCommas(site.pages()), WithCommas(site.frontier()),
               WithCommas(site.outbox()),
               fmt::format("{:.0f}", site.pages_per_second()),
               site.has_round_trip_seconds()
                   ? SecondsForPeople(site.round_trip_seconds())
                   : "-",
               site.has_last_heard_seconds()
                   ? SecondsForPeople(site.last_heard_seconds()) + " ago"
                   : "-"});
    if (!site.error().empty()) {
      problems += fmt::format("{}: {}\n", ForTerminal(site.name()),
                              ForTerminal(site.error()));
    }
  }
  return text + table.ToString() + problems;
}

// Asks all sites anew: a script may go on when this says that all is quiet, so
// it must be true.
admin::GetFederationRequest TheTruth() {
  admin::GetFederationRequest request;
  request.set_ask_all(true);
  return request;
}

ExitCode Show(const Flags& flags) {
  return AskSite<admin::GetFederationRequest, admin::Federation>(
      flags.site, &Admin::GetFederation, TheTruth(), ForPeople);
}

ExitCode WaitForQuiet(const Flags& flags) {
  const std::optional<absl::Duration> wait = ParseDuration(flags.wait);
  if (!wait.has_value()) {
    return Report(absl::InvalidArgumentError(
        fmt::format("--wait: found '{}', allowed is a time such as 30s or 10m",
                    ForTerminal(flags.wait))));
  }
  const absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  const auto reached = ReachedSite::Reach(*site);
  if (!reached.ok()) return Report(reached.status());
  storage::Clock& clock = storage::SystemClock();
  const absl::Time until = clock.SteadyNow() + *wait;
  for (;;) {
    admin::Federation reply;
    const absl::Status asked =
        (*reached)->admin().GetFederation(TheTruth(), reply);
    if (!asked.ok()) return ReportAnswer(asked);
    const bool is_quiet = reply.federation().quiet();
    if (is_quiet || clock.SteadyNow() > until) {
      const ExitCode printed = Print(
          flags.site, [&] { return MessageJson(reply); },
          [&] { return ForPeople(reply); });
      return is_quiet ? printed : kFailed;
    }
    clock.SleepFor(kLookEvery);
  }
}

}  // namespace

void AddFederationStatusCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command = parent.Add("status", "show how the federation is doing");
  command.Value("--wait", flags->wait,
                "wait at most this long until it is quiet; exit code 1 if it "
                "is not by then",
                {.type = "TIME"});
  flags->site.AddAskFlags(command);
  command.Example("gannet federation status --data ./tokyo",
                  "Quiet: all sites were asked twice, and both times all were "
                  "idle and nothing\nwas on its way between them.");
  command.Run([flags] {
    return flags->wait.empty() ? Show(*flags) : WaitForQuiet(*flags);
  });
}

}  // namespace gannet::sites
