#include "sites/agent/agent.h"

#include <fmt/format.h>

#include <optional>
#include <thread>
#include <utility>

#include "sites/admin/local_admin.h"
#include "sites/admin/message_times.h"
#include "sites/admin/outcomes.h"
#include "sites/agent/admin_calls.h"
#include "sites/agent/admin_server.h"
#include "sites/agent/certificate.h"
#include "sites/agent/library_logs.h"
#include "sites/agent/reload.h"
#include "sites/agent/round_messages.h"
#include "sites/agent/round_runner.h"
#include "sites/agent/site_federation.h"
#include "sites/agent/site_rounds.h"
#include "storage/mutex.h"

namespace gannet::sites {
namespace {

// Calls under way get so long when the agent stops.
constexpr absl::Duration kGrace = absl::Seconds(2);
// A round may be silent for its whole time limit (slow hosts), and then some.
constexpr absl::Duration kStallMargin = absl::Minutes(15);
constexpr absl::Duration kLookAtCertificate = absl::Seconds(30);

std::string Joined(const std::vector<std::string>& keys) {
  return fmt::format("{}", fmt::join(keys, " "));
}

// Logs the notices that there are now, and those that rounds will give.
void LogNotices(PreparedRounds& prepared, Log& log) {
  prepared.settings.notice = [&log](const std::string& notice) {
    log.Warning("settings_notice", {{"reason", notice}});
  };
  for (const std::string& notice : prepared.notices) {
    prepared.settings.notice(notice);
  }
}

}  // namespace

class Agent::Members {
 public:
  Members(AgentSettings settings, PreparedRounds prepared,
          std::unique_ptr<SiteFederation> federation, storage::SiteStore& store,
          Log& log, storage::Clock& clock)
      : settings_(std::move(settings)),
        store_(store),
        log_(log),
        clock_(clock),
        library_logs_(log),
        federation_(std::move(federation)),
        rounds_(std::move(prepared), store, federation_.get(), clock),
        runner_(RunnerSettings(), rounds_, log, clock),
        admin_(settings_.config, settings_.config_file, store, &runner_,
               clock) {
    if (federation_ != nullptr) {
      federation_->CountPagesBy([this] {
        return CountsMessage(rounds_.lifetime()).outcomes().fetched();
      });
      admin_.SetFederation(federation_.get());
    }
    storage::MutexLock lock(&mu_);
    reload_.set_successful(true);
    *reload_.mutable_last_success() = ToMessage(clock_.Now());
  }
  ~Members();

  absl::Status Start();
  Admin& admin() { return admin_; }
  absl::Status Reload(admin::Reloaded& reply) ABSL_LOCKS_EXCLUDED(reload_mu_);
  absl::Status Healthy();
  absl::Status MustRestart();
  RoundRunner& runner() { return runner_; }

 private:
  RoundRunnerSettings RunnerSettings();
  void AddToStatus(admin::AgentStatus& status) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status TakeUp(const SiteConfig& file, admin::Reloaded& reply);

  const AgentSettings settings_;
  storage::SiteStore& store_;
  Log& log_;
  storage::Clock& clock_;
  const LibraryLogs library_logs_;
  AdminCalls calls_;
  const std::unique_ptr<SiteFederation> federation_;  // Null: in none.
  SiteRounds rounds_;
  RoundRunner runner_;
  LocalAdmin admin_;
  std::unique_ptr<AdminServer> server_;
  std::shared_ptr<void> http_;

  storage::Mutex reload_mu_;  // One at a time.
  storage::Mutex mu_;
  admin::ReloadState reload_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Time> expires_ ABSL_GUARDED_BY(mu_);
  absl::Time looked_at_certificate_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
};

RoundRunnerSettings Agent::Members::RunnerSettings() {
  RoundRunnerSettings runner;
  runner.data_folder = settings_.config.site.data;
  runner.version = settings_.version;
  runner.schedule = settings_.config.crawl.schedule;
  runner.stall = settings_.config.crawl.time_limit + kStallMargin;
  runner.add_to_status = [this](admin::AgentStatus& status) {
    AddToStatus(status);
  };
  runner.site_status = [this](admin::Status& status) {
    (void)admin_.GetStatus({}, status);
  };
  runner.reload = [this](admin::Reloaded& reply) { return Reload(reply); };
  return runner;
}

absl::Status Agent::Members::Start() {
  const SiteConfig& config = settings_.config;
  auto server = AdminServer::Start({.data_folder = config.site.data,
                                    .address = config.listen.admin,
                                    .tls = config.tls},
                                   admin_, calls_, log_, clock_);
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  if (settings_.serve_http && !config.listen.http.empty()) {
    auto http = settings_.serve_http(config.listen.http, admin_,
                                     [this] { return Healthy(); });
    if (!http.ok()) return http.status();
    http_ = *std::move(http);
  }
  runner_.Start();
  log_.Info("agent_started",
            {{"site", config.site.name},
             {"data", config.site.data},
             {"schedule", config.crawl.schedule.ToText()},
             {"http", config.listen.http},
             {"peers", federation_ == nullptr
                           ? ""
                           : fmt::format("port {}", federation_->port())},
             {"admin", config.listen.admin.empty()
                           ? ""
                           : fmt::format("port {}", server_->port())},
             {"version", settings_.version}});
  return absl::OkStatus();
}

// Rounds and callers are stopped in parallel: each takes some seconds.
Agent::Members::~Members() {
  std::thread servers([this] {
    http_.reset();
    if (server_ != nullptr) server_->Stop(kGrace);
  });
  runner_.End();
  servers.join();
  if (federation_ != nullptr) federation_->CountPagesBy(nullptr);
}

void Agent::Members::AddToStatus(admin::AgentStatus& status) {
  for (const auto& [method, counts] : calls_.counts()) {
    (*status.mutable_admin_requests())[method] = counts.requests;
    (*status.mutable_admin_request_failures())[method] = counts.failures;
  }
  status.set_min_free_bytes(admin_.config()->archive.min_free);
  storage::MutexLock lock(&mu_);
  *status.mutable_reload() = reload_;
  if (!settings_.config.tls.IsComplete()) return;
  const absl::Time now = clock_.SteadyNow();
  if (now - looked_at_certificate_ > kLookAtCertificate) {
    looked_at_certificate_ = now;
    const auto expires = CheckTlsFiles(settings_.config.tls);
    // The file is just being replaced: the last known value stays.
    if (expires.ok()) expires_ = *expires;
  }
  if (expires_.has_value()) {
    *status.mutable_certificate_expires() = ToMessage(*expires_);
  }
}

absl::Status Agent::Members::Healthy() {
  if (runner_.ShowsLife()) return absl::OkStatus();
  return absl::UnavailableError("the thread that runs rounds hangs");
}

absl::Status Agent::Members::MustRestart() {
  absl::Status broken = store_.Broken();
  if (absl::IsResourceExhausted(broken) && !rounds_.HasRoom()) {
    return absl::OkStatus();  // It would only fail again.
  }
  return broken;
}

absl::Status Agent::Members::TakeUp(const SiteConfig& file,
                                    admin::Reloaded& reply) {
  ConfigChange change = ChangeConfig(*admin_.config(), file);
  absl::StatusOr<PreparedRounds> prepared = settings_.prepare(change.config);
  if (!prepared.ok()) return prepared.status();
  // Beyond this point nothing fails.
  LogNotices(*prepared, log_);
  rounds_.SetSettings(*std::move(prepared));
  runner_.SetSchedule(change.config.crawl.schedule,
                      change.config.crawl.time_limit + kStallMargin);
  store_.archive().SetMinFree(change.config.archive.min_free);
  log_.SetLevel(change.config.log.level);
  admin_.SetConfig(change.config);
  reply.mutable_changed()->Assign(change.changed.begin(), change.changed.end());
  reply.mutable_needs_restart()->Assign(change.needs_restart.begin(),
                                        change.needs_restart.end());
  log_.Info("reloaded", {{"changed", Joined(change.changed)},
                         {"needs_restart", Joined(change.needs_restart)}});
  return absl::OkStatus();
}

absl::Status Agent::Members::Reload(admin::Reloaded& reply) {
  storage::MutexLock one_at_a_time(&reload_mu_);
  absl::StatusOr<SiteConfig> file = settings_.read_config();
  const absl::Status status = file.ok() ? TakeUp(*file, reply) : file.status();
  storage::MutexLock lock(&mu_);
  reload_.set_successful(status.ok());
  reload_.set_error(std::string(status.message()));
  if (status.ok()) {
    *reload_.mutable_last_success() = ToMessage(clock_.Now());
    return status;
  }
  log_.Error("reload_refused", {{"error", std::string(status.message())},
                                {"in_force", "the configuration from before"}});
  // A missing file is refused like one that cannot be read.
  if (absl::IsInvalidArgument(status)) return status;
  return absl::InvalidArgumentError(status.message());
}

Agent::Agent(std::unique_ptr<Members> members) : members_(std::move(members)) {}
Agent::~Agent() = default;

absl::StatusOr<std::unique_ptr<Agent>> Agent::Start(AgentSettings settings,
                                                    storage::SiteStore& store,
                                                    Log& log,
                                                    storage::Clock& clock) {
  absl::StatusOr<PreparedRounds> prepared = settings.prepare(settings.config);
  if (!prepared.ok()) return prepared.status();
  LogNotices(*prepared, log);
  std::unique_ptr<SiteFederation> federation;
  if (settings.config.federation.map != MapSource::kNone) {
    auto started = SiteFederation::Start(settings.config, store, log, clock);
    if (!started.ok()) return started.status();
    federation = *std::move(started);
  }
  auto members =
      std::make_unique<Members>(std::move(settings), *std::move(prepared),
                                std::move(federation), store, log, clock);
  if (absl::Status s = members->Start(); !s.ok()) return s;
  return std::unique_ptr<Agent>(new Agent(std::move(members)));
}

Admin& Agent::admin() { return members_->admin(); }
absl::Status Agent::Reload(admin::Reloaded& reply) {
  return members_->Reload(reply);
}
absl::Status Agent::Healthy() { return members_->Healthy(); }
absl::Status Agent::MustRestart() { return members_->MustRestart(); }

std::string Agent::OneLine() {
  const admin::AgentStatus status = members_->runner().Status();
  if (status.has_progress()) {
    const admin::Progress& progress = status.progress();
    return fmt::format("round {}, {}: {} of {} pages", progress.round(),
                       progress.phase(), Completed(progress.outcomes()),
                       progress.planned());
  }
  std::string line = fmt::format("{} ({})", status.rounds().state(),
                                 status.rounds().schedule());
  if (!status.rounds().last_error().empty()) {
    line += "; last round failed: " + status.rounds().last_error();
  }
  return line;
}

}  // namespace gannet::sites
