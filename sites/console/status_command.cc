#include <fmt/format.h>

#include <memory>
#include <string>

#include "sites/admin/message_times.h"
#include "sites/admin/outcomes.h"
#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/terminal_text.h"
#include "sites/console/text_table.h"

namespace gannet::sites {
namespace {

// What an agent says of its rounds: a line of its own.
std::string AgentForPeople(const admin::AgentStatus& agent) {
  const admin::RoundsState& rounds = agent.rounds();
  std::string text =
      fmt::format("agent      pid {}, {}, schedule: {}", agent.pid(),
                  rounds.state(), rounds.schedule());
  if (rounds.has_next_round()) {
    text += ", next round: " +
            TimeForPeople(absl::ToUnixMillis(FromMessage(rounds.next_round())));
  }
  text += "\n";
  if (agent.has_progress()) {
    const admin::Progress& progress = agent.progress();
    const admin::Outcomes& outcomes = progress.outcomes();
    text += fmt::format(
        "now        {}: {} of {} pages, {} failed, {} hosts active\n",
        progress.phase(), WithCommas(Completed(outcomes)),
        WithCommas(progress.planned()), WithCommas(outcomes.failed()),
        WithCommas(progress.hosts_active()));
  }
  if (!rounds.last_error().empty()) {
    text += fmt::format("last error {}\n", ForTerminal(rounds.last_error()));
  }
  return text;
}

std::string ForPeople(const admin::Status& message) {
  const nlohmann::json status = MessageJson(message);
  const auto count = [&](const char* key) {
    return WithCommas(status[key].get<int64_t>());
  };
  std::string states;
  for (const auto& [state, pages] : status["pages"].items()) {
    if (pages == 0) continue;
    states += fmt::format("{}{} {}", states.empty() ? "" : ", ",
                          WithCommas(pages.get<int64_t>()), state);
  }
  std::string outbox;
  for (const auto& [site, urls] : status["outbox"].items()) {
    outbox += fmt::format("{}{} for site {}", outbox.empty() ? "" : ", ",
                          WithCommas(urls.get<int64_t>()), site);
  }
  const std::string phase = status["phase"];
  const std::string next =
      status["next_due"].is_null() ? "nothing" : status["next_due"];
  return fmt::format(
      "site       {}\n"
      "round      {}{}\n"
      "pages      {}{}\n"
      "frontier   {} ready\n"
      "schedule   {} waiting, next: {}\n"
      "deferred   {}\n"
      "outbox     {}\n"
      "archive    {} in {} files\n"
      "blocked    {} domains\n{}",
      ForTerminal(status["site"].get<std::string>()), count("round"),
      phase == "none" ? ""
                      : fmt::format(", open: {}, {} pages to fetch", phase,
                                    count("in_round")),
      count("known"), states.empty() ? "" : ": " + states, count("frontier"),
      count("scheduled"), next, count("deferred"),
      outbox.empty() ? "0" : outbox,
      BytesForPeople(status["archive"]["bytes"].get<double>()),
      status["archive"]["files"].get<int64_t>(), count("blocked_domains"),
      message.has_agent() ? AgentForPeople(message.agent()) : "");
}

}  // namespace

void AddStatusCommand(Command& parent) {
  auto flags = std::make_shared<SiteFlags>();
  Command& command =
      parent.Add("status", "show what the site knows, and what it is doing");
  flags->AddAskFlags(command);
  command.Example("gannet status --data ./tokyo");
  command.Run([flags] {
    return AskSite<admin::GetStatusRequest, admin::Status>(
        *flags, &Admin::GetStatus, {}, ForPeople);
  });
}

}  // namespace gannet::sites
