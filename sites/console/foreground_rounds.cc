#include "sites/console/foreground_rounds.h"

#include <fmt/format.h>
#include <unistd.h>

#include "sites/admin/message_times.h"
#include "sites/agent/round_messages.h"

namespace gannet::sites {
namespace {

// Log lines of the server would disturb the progress display; only errors are
// shown.
LogSection OnlyErrors() {
  LogSection log;
  log.level = LogLevel::kError;
  return log;
}

absl::Status NotByHand() {
  return absl::FailedPreconditionError(fmt::format(
      "the site is crawled by hand (pid {}), not by an agent: this is for "
      "'gannet serve'",
      getpid()));
}

}  // namespace

ForegroundRounds::ForegroundRounds(const ChosenSite& site,
                                   storage::SiteStore& store,
                                   jobs::Rounds& rounds,
                                   std::atomic<bool>& stop,
                                   storage::Clock& clock)
    : data_(site.config.site.data),
      started_(clock.Now()),
      steady_start_(clock.SteadyNow()),
      rounds_(rounds),
      stop_(stop),
      clock_(clock),
      log_(OnlyErrors(), STDERR_FILENO, /*to_journal=*/false, clock),
      admin_(site.config, site.file, store, this, clock) {}

absl::Status ForegroundRounds::Serve() {
  AdminServerSettings settings;
  settings.data_folder = data_;
  auto server = AdminServer::Start(settings, admin_, calls_, log_, clock_);
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return absl::OkStatus();
}

admin::RoundsState ForegroundRounds::State() const {
  admin::RoundsState state;
  state.set_schedule("by-hand");
  state.set_state(stop_ ? "stopping" : "running");
  return state;
}

admin::AgentStatus ForegroundRounds::Status() {
  admin::AgentStatus status;
  status.set_pid(getpid());
  status.set_version(GANNET_VERSION);
  *status.mutable_started() = ToMessage(started_);
  *status.mutable_rounds() = State();
  jobs::RunSummary lifetime = rounds_.lifetime();
  lifetime.elapsed = clock_.SteadyNow() - steady_start_;
  *status.mutable_lifetime() = CountsMessage(lifetime);
  const jobs::ProgressView view = rounds_.view();
  if (view.phase != proto::NO_ROUND) {
    *status.mutable_progress() = ProgressMessage(view);
  }
  return status;
}

absl::Status ForegroundRounds::RunRounds(const admin::RunRoundsRequest&,
                                         const Sink<admin::RunProgress>&) {
  return absl::FailedPreconditionError(fmt::format(
      "the site is being crawled already, by pid {}; 'gannet status' shows how "
      "far it is, 'gannet round --stop' stops it",
      getpid()));
}

absl::Status ForegroundRounds::StopRounds(const admin::StopRoundsRequest&,
                                          admin::RoundsState& reply) {
  stop_ = true;
  reply = State();
  return absl::OkStatus();
}

absl::Status ForegroundRounds::PauseRounds(const admin::PauseRoundsRequest&,
                                           admin::RoundsState&) {
  return NotByHand();
}
absl::Status ForegroundRounds::ResumeRounds(const admin::ResumeRoundsRequest&,
                                            admin::RoundsState&) {
  return NotByHand();
}
absl::Status ForegroundRounds::Reload(const admin::ReloadRequest&,
                                      admin::Reloaded&) {
  return NotByHand();
}

}  // namespace gannet::sites
