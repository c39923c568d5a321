// Agent is a site that runs by itself: its rounds, its admin API, and its
// dashboard, over one store. It is put together here, and taken apart in the
// other order; what each part does is in its own file. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sites/admin/admin.h"
#include "sites/agent/log.h"
#include "sites/agent/round_settings.h"
#include "sites/config/site_config.h"
#include "storage/clock.h"
#include "storage/site_store/site_store.h"

namespace gannet::sites {

struct AgentSettings {
  SiteConfig config;
  std::string config_file;  // For people; empty: flags and defaults.
  std::string version;
  // Reads file and flags again.
  std::function<absl::StatusOr<SiteConfig>()> read_config;
  std::function<absl::StatusOr<PreparedRounds>(const SiteConfig&)> prepare;
  // Begins to serve dashboard and metrics (sites/dashboard) at the address, and
  // returns what serves them: it stops when it is destroyed, before `admin` is.
  // `healthy` is for /healthz. Nothing: no such port.
  std::function<absl::StatusOr<std::shared_ptr<void>>(
      const std::string& address, Admin& admin,
      std::function<absl::Status()> healthy)>
      serve_http;
};

class Agent {
 public:
  // Begins to crawl. `store`, `log` and `clock` must outlive it. Errors say
  // what to do.
  static absl::StatusOr<std::unique_ptr<Agent>> Start(AgentSettings settings,
                                                      storage::SiteStore& store,
                                                      Log& log,
                                                      storage::Clock& clock);
  // Stops the round that runs, and everything else. Some seconds; a caller that
  // has the agent verify or back up everything may hold it up longer.
  ~Agent();

  Admin& admin();

  // Reads site.yaml again. kInvalidArgument says what is wrong with it, and all
  // stays as it was. Either way it is logged.
  absl::Status Reload(admin::Reloaded& reply);

  // kUnavailable if the thread that runs rounds hangs.
  absl::Status Healthy();

  // Not OK: the store cannot be written to before it is opened again, and that
  // may succeed now. kResourceExhausted after a full disk, once it has room.
  absl::Status MustRestart();

  // "round 7, fetch: 120 of 300 pages": for `systemctl status`.
  std::string OneLine();

 private:
  class Members;
  explicit Agent(std::unique_ptr<Members> members);
  const std::unique_ptr<Members> members_;
};

}  // namespace gannet::sites
