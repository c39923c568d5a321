// Rounds runs a site's rounds: generate, fetch+parse, update, report (DESIGN,
// section 5). The journal in the crawl DB holds the phase, and each phase goes
// on where it was; so does a new process after a crash. Not thread-safe but for
// view(), summary(), lifetime() and HasRoom().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "jobs/fetch/fetch_phase.h"
#include "jobs/generate/generate.h"
#include "jobs/round/federation_part.h"
#include "jobs/round/progress.h"
#include "jobs/update/update.h"
#include "storage/clock.h"
#include "storage/mutex.h"
#include "storage/site_store/site_store.h"

namespace gannet::jobs {

struct RoundSettings {
  GenerateSettings generate;
  FetchPhaseSettings fetch;
  UpdateSettings update;
  // A round ends then, whatever slow hosts have left.
  absl::Duration time_limit = absl::Minutes(30);
  // With so many pages fetched in all no round begins, nor does one that begins
  // fetch more; 0: no limit.
  int64_t max_pages = 0;
  // RunMany() ends after this time, at the end of the round that runs, which
  // gives back what it has not fetched by then.
  absl::Duration max_time = absl::InfiniteDuration();
  // No new round with less free space than this where the data are.
  uint64_t min_free = 0;
  std::string data_folder;
  // Called as a round begins with what the operator should know, if anything.
  std::function<void(const std::string& notice)> notice;
  // Called as RunMany() begins to wait until then for what is due.
  std::function<void(absl::Time until)> on_wait;
  // Null: the site is in no federation. Must outlive the rounds.
  FederationPart* federation = nullptr;
};

// Why RunMany() ended, if it was neither stopped nor failed.
enum class RunEnd { kNothingLeft, kRounds, kPages, kTime };

// What one run did in all its rounds, also in one that another run began or
// will end: what `gannet crawl --json` prints.
struct RunSummary {
  int64_t rounds = 0;  // That it ended.
  OutcomeCounts counts;
  std::map<std::string, int64_t> failures;        // Of the failed, by kind.
  std::map<std::string, std::string> failed_url;  // One of each kind.
  int64_t bytes = 0;
  // New connections were held back for so long: this machine was too busy, or
  // had no sockets for more.
  absl::Duration held_back;
  absl::Duration elapsed;
  std::optional<RunEnd> end;
  std::map<std::string, double> phase_seconds;
};

class Rounds {
 public:
  // `store` and `clock` must outlive this.
  Rounds(RoundSettings settings, storage::SiteStore* store,
         storage::Clock& clock);

  // Runs one round, or ends the one that is open. False, and nothing done, if
  // there is nothing to fetch now. kCancelled if `stop` was set: the round
  // stays open. kResourceExhausted: the disk is full, or nearly so.
  absl::StatusOr<bool> RunOne(const std::atomic<bool>& stop);

  // Runs rounds until `most` are done (nothing: no limit), a limit of the
  // settings is reached, or nothing is left: no page to fetch, and none that
  // becomes ready within `wait`.
  // kFailedPrecondition: with these settings rounds do nothing but give their
  // pages back.
  absl::Status RunMany(std::optional<int64_t> most, absl::Duration wait,
                       const std::atomic<bool>& stop);

  // kFailedPrecondition: the last rounds did nothing but give their pages back,
  // and with these settings so would the next.
  absl::Status CheckProgress() const;

  // Why RunOne() last began no round though there may be pages to fetch: the
  // federation does not let it. Thread-safe.
  absl::Status may_begin() const ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    return may_begin_;
  }

  // Whether the disk has room for a round: what ended with kResourceExhausted
  // may go on. Costs one look at the file system. Thread-safe.
  bool HasRoom() const;

  // Of what was ended or stopped.
  RunSummary summary() const ABSL_LOCKS_EXCLUDED(mu_);
  // The same with what the round that runs did so far: its numbers only grow.
  RunSummary lifetime() const ABSL_LOCKS_EXCLUDED(mu_);
  ProgressView view() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Until settings_.max_pages are fetched; at most the width.
  int64_t PagesToGo() const;
  absl::Status CheckSpace() const;
  void GiveNotice() const;
  // The settings of the phases, with what the federation says today.
  GenerateSettings GenerateNow(const FederationNow& now) const;
  UpdateSettings UpdateNow(const FederationNow& now) const;
  FederationNow LookAtFederation() const;
  bool IsOut() const;
  absl::Status Finish(absl::Time deadline, const std::atomic<bool>& stop);
  FetchView TakeNetworkLag() ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status WriteReport(const FederationNow& now);
  void AddToSummary(const proto::RoundCounts& counts) ABSL_LOCKS_EXCLUDED(mu_);
  void CountRound() ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Enter(proto::RoundPhase phase) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status LeavePhase() ABSL_LOCKS_EXCLUDED(mu_);

  const RoundSettings settings_;
  storage::SiteStore* const store_;
  storage::Clock& clock_;
  FetchPhase fetch_;
  UpdateView update_view_;
  absl::Time run_ends_ = absl::InfiniteFuture();  // Steady.
  bool was_resumed_ = false;
  int fruitless_ = 0;  // Rounds in a row, the last one included.

  mutable storage::Mutex mu_;
  RunSummary summary_ ABSL_GUARDED_BY(mu_);
  bool is_running_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status may_begin_ ABSL_GUARDED_BY(mu_);
  // Of the open round: what is not this run's, or is in the summary already.
  proto::RoundCounts counts_before_ ABSL_GUARDED_BY(mu_);
  proto::RoundPhase phase_ ABSL_GUARDED_BY(mu_) = proto::NO_ROUND;
  absl::Time phase_began_ ABSL_GUARDED_BY(mu_);  // Steady.
  // To be shown.
  absl::Time phase_started_ ABSL_GUARDED_BY(mu_);
  absl::Time round_started_ ABSL_GUARDED_BY(mu_);
  absl::Time deadline_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  absl::Time waiting_until_ ABSL_GUARDED_BY(mu_);
  int64_t planned_ ABSL_GUARDED_BY(mu_) = 0;
  // Of the last round, but for the fetch phase that runs.
  absl::Duration max_lag_ ABSL_GUARDED_BY(mu_);
  absl::Duration held_back_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::jobs
