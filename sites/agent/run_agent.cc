#include "sites/agent/run_agent.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "jobs/fetch/steady_now.h"

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

// What systemd hears while the agent runs. Not thread-safe.
class Herald {
 public:
  Herald(Agent& agent, const ServiceManager& manager, Log& log)
      : agent_(agent), manager_(manager), log_(log) {}

  void Look() {
    const absl::Time now = jobs::SteadyNow();
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

  absl::Duration pause() const {
    return std::min(kLook, manager_.alive_every().value_or(kLook));
  }

 private:
  Agent& agent_;
  const ServiceManager& manager_;
  Log& log_;
  absl::Time next_alive_ = absl::InfinitePast();
  absl::Time next_status_ = absl::InfinitePast();
  std::string last_line_;
  bool has_complained_ = false;
};

// Ends both beside the main thread, which goes on listening.
ExitCode StopAgent(std::unique_ptr<Agent> agent,
                   std::unique_ptr<storage::SiteStore> store, Log& log) {
  const absl::Time started = jobs::SteadyNow();
  std::atomic<bool> is_done = false;
  std::thread stopper([&] {
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
    if (jobs::SteadyNow() - started > kMostStopping) {
      log.Warning("agent_ended_while_stopping",
                  {{"why",
                    "a caller's request takes too long; what is stored "
                    "is safe"}});
      _exit(kDone);
    }
  }
  stopper.join();
  log.Info("agent_stopped",
           {{"seconds", absl::ToDoubleSeconds(jobs::SteadyNow() - started)}});
  return kDone;
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
                  const ServiceManager& manager, Log& log) {
  manager.Ready();
  {
    Herald herald(*agent, manager, log);
    for (;;) {
      herald.Look();
      const int signal = AwaitSignal(herald.pause());
      if (signal == SIGHUP) {
        manager.Reloading();
        admin::Reloaded reloaded;
        (void)agent->Reload(reloaded);  // It says so itself.
        manager.Ready();
      } else if (signal != 0) {
        log.Info("agent_stopping", {{"signal", int64_t{signal}}});
        break;
      }
    }
  }
  manager.Stopping();
  return StopAgent(std::move(agent), std::move(store), log);
}

}  // namespace gannet::sites
