#include "sites/console/ask_site.h"

#include <utility>

#include "sites/admin/local_admin.h"
#include "sites/admin/remote_admin.h"
#include "sites/console/output.h"
#include "storage/clock.h"

namespace gannet::sites {
namespace {

// A process has the folder and does not listen: an agent that starts or stops,
// or a command like this one.
constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr absl::Duration kKnockAgain = absl::Milliseconds(50);

}  // namespace

absl::StatusOr<std::unique_ptr<ReachedSite>> ReachedSite::Reach(
    const ChosenSite& site, IfMissing if_missing) {
  auto reached = std::make_unique<ReachedSite>();
  if (!site.admin.empty()) {
    auto agent = ConnectToAddress(site.admin, site.config.tls);
    if (!agent.ok()) return agent.status();
    reached->admin_ = *std::move(agent);
    return reached;
  }
  storage::Clock& clock = storage::SystemClock();
  const absl::Time give_up = clock.SteadyNow() + kPatience;
  for (;;) {
    auto agent = ConnectToAgent(site.config.site.data);
    if (agent.ok()) {
      reached->admin_ = *std::move(agent);
      return reached;
    }
    if (!absl::IsNotFound(agent.status())) return agent.status();
    auto store = OpenSite(site, if_missing, clock);
    if (store.ok()) {
      reached->store_ = *std::move(store);
      break;
    }
    if (!absl::IsAborted(store.status()) || clock.SteadyNow() >= give_up) {
      return store.status();
    }
    clock.SleepFor(kKnockAgain);
  }
  reached->admin_ = std::make_unique<LocalAdmin>(
      site.config, site.file, *reached->store_, /*rounds=*/nullptr, clock);
  return reached;
}

ExitCode ReportAnswer(const absl::Status& status) {
  const ExitCode code = Report(status);
  return absl::IsNotFound(status) ? kFailed : code;
}

ExitCode Print(const SiteFlags& flags,
               const std::function<nlohmann::json()>& for_machines,
               const std::function<std::string()>& for_people) {
  Output out;
  if (flags.json()) {
    out.WriteJson(for_machines());
  } else {
    out.Write(for_people());
  }
  return out.Finish();
}

}  // namespace gannet::sites
