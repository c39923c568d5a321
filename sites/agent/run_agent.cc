#include "sites/agent/run_agent.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "storage/mutex.h"

namespace gannet::sites {
namespace {

// How often the main loop looks up; what systemd is told is as old.
constexpr absl::Duration kLook = absl::Seconds(1);
constexpr absl::Duration kStatusEvery = absl::Seconds(5);
// systemd and the operator are promised ten.
constexpr absl::Duration kMostStopping = absl::Seconds(9);
constexpr absl::Duration kLookWhileStopping = absl::Milliseconds(20);

sigset_t AgentSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

// The signal that came, or 0.
int AwaitSignal(absl::Duration at_most) {
  const sigset_t set = AgentSignals();
  const timespec time = absl::ToTimespec(at_most);
  return std::max(0, sigtimedwait(&set, nullptr, &time));
}

// Tells systemd how the agent is doing, and looks whether the store can still
// be written to. In a thread of its own: a look may wait for the disk, and the
// handling of signals must not.
class Herald {
 public:
  Herald(Agent& agent, const ServiceManager& manager, Log& log,
         storage::Clock& clock)
      : agent_(agent), manager_(manager), log_(log), clock_(clock) {
    thread_ = std::thread([this] { Run(); });
  }
  ~Herald() {
    {
      storage::MutexLock lock(&mu_);
      is_over_ = true;
      changed_.SignalAll();
    }
    thread_.join();
  }

  // Agent::MustRestart(), at its last look.
  absl::Status must_restart() ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    return must_restart_;
  }

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::Duration pause =
        std::min(kLook, manager_.alive_every().value_or(kLook));
    for (;;) {
      FeedServiceManager();
      absl::Status must_restart = agent_.MustRestart();
      storage::MutexLock lock(&mu_);
      must_restart_ = std::move(must_restart);
      if (!is_over_) clock_.WaitFor(changed_, &mu_, pause);
      if (is_over_) return;
    }
  }

  void FeedServiceManager() {
    const absl::Time now = clock_.SteadyNow();
    const std::optional<absl::Duration> every = manager_.alive_every();
    if (every.has_value() && now >= next_alive_) {
      next_alive_ = now + std::min(*every, kLook);
      const absl::Status healthy = agent_.Healthy();
      if (healthy.ok()) {
        manager_.Alive();
      } else if (!std::exchange(has_complained_, true)) {
        log_.Error("watchdog_not_fed",
                   {{"error", std::string(healthy.message())}});
      }
    }
    if (now >= next_status_) {
      next_status_ = now + kStatusEvery;
      std::string line = agent_.OneLine();
      if (line != last_line_) manager_.Status(line);
      last_line_ = std::move(line);
    }
  }

  Agent& agent_;
  const ServiceManager& manager_;
  Log& log_;
  storage::Clock& clock_;
  // Its thread's own.
  absl::Time next_alive_ = absl::InfinitePast();
  absl::Time next_status_ = absl::InfinitePast();
  std::string last_line_;
  bool has_complained_ = false;

  storage::Mutex mu_;
  storage::Condition changed_;
  bool is_over_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status must_restart_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

// Ends them beside the main thread, which goes on listening.
void StopAgent(std::unique_ptr<Herald> herald, std::unique_ptr<Agent> agent,
               std::unique_ptr<storage::SiteStore> store, ExitCode code,
               Log& log, storage::Clock& clock) {
  const absl::Time started = clock.SteadyNow();
  std::atomic<bool> is_done = false;
  std::thread stopper([&] {
    herald.reset();
    agent.reset();
    store.reset();
    is_done = true;
  });
  while (!is_done) {
    const int signal = AwaitSignal(kLookWhileStopping);
    if (signal == SIGTERM || signal == SIGINT) {
      log.Warning("agent_ended_at_once", {{"signal", int64_t{signal}}});
      _exit(kInterrupted);
    }
    if (clock.SteadyNow() - started > kMostStopping) {
      log.Warning("agent_ended_while_stopping",
                  {{"why",
                    "a caller's request takes too long; what is stored "
                    "is safe"}});
      _exit(code);
    }
  }
  stopper.join();
  log.Info("agent_stopped",
           {{"seconds", absl::ToDoubleSeconds(clock.SteadyNow() - started)}});
}

// Until it is to end, and with which code.
ExitCode AwaitEnd(Agent& agent, Herald& herald, const ServiceManager& manager,
                  Log& log) {
  for (;;) {
    const int signal = AwaitSignal(kLook);
    if (signal == SIGHUP) {
      manager.Reloading();
      admin::Reloaded reloaded;
      (void)agent.Reload(reloaded);  // It logs the result itself.
      manager.Ready();
    } else if (signal != 0) {
      log.Info("agent_stopping", {{"signal", int64_t{signal}}});
      return kDone;
    }
    const absl::Status broken = herald.must_restart();
    if (broken.ok()) continue;
    log.Error("agent_must_restart", {{"error", std::string(broken.message())}});
    return absl::IsResourceExhausted(broken) ? kDiskFull : kFailed;
  }
}

}  // namespace

EndOnSignals::EndOnSignals() {
  thread_ = std::thread([this] {
    sigset_t ends;
    sigemptyset(&ends);
    for (const int signal : {SIGTERM, SIGINT}) sigaddset(&ends, signal);
    const timespec look = absl::ToTimespec(kLookWhileStopping);
    while (!is_over_) {
      const int signal = sigtimedwait(&ends, nullptr, &look);
      if (signal > 0) _exit(signal == SIGTERM ? kDone : kInterrupted);
    }
  });
}

EndOnSignals::~EndOnSignals() {
  is_over_ = true;
  thread_.join();
}

void BlockAgentSignals() {
  const sigset_t set = AgentSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

ExitCode RunAgent(std::unique_ptr<Agent> agent,
                  std::unique_ptr<storage::SiteStore> store,
                  const ServiceManager& manager, Log& log,
                  storage::Clock& clock) {
  manager.Ready();
  auto herald = std::make_unique<Herald>(*agent, manager, log, clock);
  const ExitCode code = AwaitEnd(*agent, *herald, manager, log);
  manager.Stopping();
  StopAgent(std::move(herald), std::move(agent), std::move(store), code, log,
            clock);
  return code;
}

}  // namespace gannet::sites
