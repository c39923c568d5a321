// The agent's life as a process: signals, systemd, and the end.
//
//   SIGTERM, SIGINT   stop cleanly, within ten seconds; again: at once
//   SIGHUP            read site.yaml again
//
// Signals are blocked in all threads and fetched by the main one, so that
// nothing happens in handlers.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "sites/agent/agent.h"
#include "sites/agent/exit_code.h"
#include "sites/agent/service_manager.h"
#include "storage/clock.h"
#include "storage/site_store/site_store.h"

namespace gannet::sites {

// To be called before the process has any other thread: they inherit it.
void BlockAgentSignals();

// While it lives, SIGTERM and SIGINT end the process at once: for the time
// before RunAgent(), in which a large site is opened and signals are not
// handled yet. What is stored is safe at every moment.
class EndOnSignals {
 public:
  EndOnSignals();
  ~EndOnSignals();

 private:
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

// Runs until a signal ends it, or until the store must be opened again because
// a write has failed (Agent::MustRestart): systemd, or whatever started the
// process, starts it again. Then ends agent and store. Returns kDone; kDiskFull
// or kFailed in the latter case; or does not return at all if the end takes too
// long: the state is safe at every moment, so the process just ends.
ExitCode RunAgent(std::unique_ptr<Agent> agent,
                  std::unique_ptr<storage::SiteStore> store,
                  const ServiceManager& manager, Log& log,
                  storage::Clock& clock);

}  // namespace gannet::sites
