// SiteRounds runs the rounds of a site's store by the configuration in force. A
// new configuration is taken up between two rounds, never within one; what was
// done under the old one stays counted. Thread safety: rounds_job.h, and
// SetSettings() from any thread.
#pragma once

#include <memory>

#include "sites/agent/round_settings.h"
#include "sites/agent/rounds_job.h"
#include "storage/clock.h"
#include "storage/mutex.h"
#include "storage/site_store/site_store.h"

namespace gannet::sites {

class SiteRounds : public RoundsJob {
 public:
  // `store` and `clock` must outlive this, and `federation`, which is null if
  // the site is in none.
  SiteRounds(PreparedRounds settings, storage::SiteStore& store,
             jobs::FederationPart* federation, storage::Clock& clock);

  // From the next round on.
  void SetSettings(PreparedRounds settings) ABSL_LOCKS_EXCLUDED(mu_);

  absl::StatusOr<bool> RunOne(const std::atomic<bool>& stop) override;
  absl::StatusOr<std::optional<absl::Time>> NextDue() override;
  absl::Status MayBegin() override;
  absl::Status CheckProgress() override;
  absl::Status NothingIsLeft() override;
  bool HasOpenRound() override;
  bool HasRoom() override;
  EndedRound LastEnded() override;
  jobs::ProgressView view() override;
  jobs::RunSummary lifetime() override;

 private:
  // Rounds, and what their settings point at.
  struct Running {
    Running(PreparedRounds from, storage::SiteStore& store,
            jobs::FederationPart* federation, storage::Clock& clock)
        : settings(In(federation, std::move(from))),
          rounds(settings.settings, &store, clock) {}
    static PreparedRounds In(jobs::FederationPart* federation,
                             PreparedRounds settings) {
      settings.settings.federation = federation;
      return settings;
    }
    PreparedRounds settings;
    jobs::Rounds rounds;
  };
  std::shared_ptr<Running> current() ABSL_LOCKS_EXCLUDED(mu_);

  storage::SiteStore& store_;
  jobs::FederationPart* const federation_;
  storage::Clock& clock_;
  storage::Mutex mu_;
  // Shared, because a reader may hold it while it is replaced.
  std::shared_ptr<Running> running_ ABSL_GUARDED_BY(mu_);
  std::optional<PreparedRounds> next_ ABSL_GUARDED_BY(mu_);
  jobs::RunSummary before_ ABSL_GUARDED_BY(mu_);  // Under older settings.
};

}  // namespace gannet::sites
