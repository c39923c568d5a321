// ForegroundRounds lets other commands ask a site whose rounds a `gannet crawl`
// or `gannet round` runs: while it lives, they find this process on the data
// folder's socket, as they would find an agent. So a webmaster's complaint
// (`gannet block`) need not wait for a crawl to end. Thread-safe.
#pragma once

#include <atomic>
#include <memory>

#include "jobs/round/round.h"
#include "sites/admin/local_admin.h"
#include "sites/admin/rounds_control.h"
#include "sites/agent/admin_calls.h"
#include "sites/agent/admin_server.h"
#include "sites/agent/log.h"
#include "sites/console/site_flags.h"

namespace gannet::sites {

class ForegroundRounds : public RoundsControl {
 public:
  // All must outlive this. `stop` is what the rounds look at.
  ForegroundRounds(const ChosenSite& site, storage::SiteStore& store,
                   jobs::Rounds& rounds, std::atomic<bool>& stop,
                   storage::Clock& clock);

  // Begins to answer. A failure is no reason not to crawl.
  absl::Status Serve();

  Admin& admin() { return admin_; }

  admin::AgentStatus Status() override;
  GANNET_ROUNDS_VERBS(GANNET_DECLARE_ASK, GANNET_DECLARE_LISTEN)

 private:
  admin::RoundsState State() const;

  const std::string data_;
  const absl::Time started_;
  const absl::Time steady_start_;
  jobs::Rounds& rounds_;
  std::atomic<bool>& stop_;
  storage::Clock& clock_;
  Log log_;
  AdminCalls calls_;
  LocalAdmin admin_;
  std::unique_ptr<AdminServer> server_;  // The last: it uses all of the above.
};

}  // namespace gannet::sites
