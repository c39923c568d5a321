// RoundRunner runs a site's rounds in a thread of its own: by the schedule, or
// because somebody asks for some now. There is one thread, so rounds never
// overlap. What it does next:
//
//   somebody asked for rounds    ─► now, whatever the schedule says, and, while
//                                   they wait for them, a pause
//   paused                       ─► nothing, until Resume()
//   a round was left open        ─► it goes on, at once
//   else                         ─► at the schedule's next time
//
// A round that fails (settings that cannot work, say) is said in the log and in
// the status, and tried again after a minute, then two, up to half an hour. One
// that failed for want of room on the disk goes on some seconds after there is
// room again: that is checked every second at no cost, while a round on a full
// disk would ask web servers for pages that it cannot store. Where there is
// nothing to do, `continuous` looks again every few seconds, which costs a few
// reads: so URLs that were injected, and pages that become due, are soon begun
// with. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "jobs/fetch/steady_now.h"
#include "sites/admin/rounds_control.h"
#include "sites/agent/log.h"
#include "sites/agent/rounds_job.h"
#include "sites/config/schedule.h"
#include "storage/mutex.h"

namespace gannet::sites {

struct RoundRunnerSettings {
  std::string data_folder;  // Where the file `paused` is kept.
  std::string version;
  Schedule schedule;
  absl::Duration look_again =
      absl::Seconds(2);  // When there was nothing to do.
  absl::Duration retry = absl::Minutes(1);
  // The least wait after the disk was full, even if there is room: the crawl DB
  // takes some seconds to accept writes again.
  absl::Duration room_retry = absl::Seconds(5);
  absl::Duration max_retry = absl::Minutes(30);
  // After Stop() the schedule waits this long, so that no round begins while
  // the operator still works.
  absl::Duration after_stop = absl::Minutes(1);
  absl::Duration progress_every = absl::Milliseconds(500);
  // A round that shows no progress for so long hangs.
  absl::Duration stall = absl::Minutes(45);
  std::function<absl::Time()> now = [] { return absl::Now(); };
  std::function<absl::Time()> steady_now = jobs::SteadyNow;  // Never jumps.
  // What the agent adds to Status(): calls, certificates.
  std::function<void(admin::AgentStatus&)> add_to_status;
  // The site's status, for the last message of Run().
  std::function<void(admin::Status&)> site_status;
  std::function<absl::Status(admin::Reloaded&)> reload;
};

class RoundRunner : public RoundsControl {
 public:
  // `job` and `log` must outlive this.
  RoundRunner(RoundRunnerSettings settings, RoundsJob& job, Log& log);
  ~RoundRunner() override;

  // Begins to run rounds.
  void Start();
  // Stops the round that runs, cleanly, and runs no more; returns when it has
  // stopped, which takes a few seconds. Those in Run() get kUnavailable.
  void End();

  // `stall` as in the settings.
  void SetSchedule(const Schedule& schedule, absl::Duration stall)
      ABSL_LOCKS_EXCLUDED(mu_);

  // False if the thread hangs: what a watchdog asks, every few seconds.
  bool ShowsLife() ABSL_LOCKS_EXCLUDED(mu_);

  admin::AgentStatus Status() override;
  absl::Status Run(const admin::RunRoundsRequest& request,
                   const Sink<admin::RunProgress>& sink) override;
  absl::Status Stop(admin::RoundsState& reply) override;
  absl::Status Pause(admin::RoundsState& reply) override;
  absl::Status Resume(admin::RoundsState& reply) override;
  absl::Status Reload(admin::Reloaded& reply) override;

 private:
  // Rounds that a caller asked for. They go on if the caller leaves, until a
  // pause.
  struct Wish {
    std::optional<int64_t> rounds_left;
    absl::Duration wait;
    bool is_watched = true;  // Who asked still waits for the end.
    bool is_done = false;
    absl::Status status;
  };
  enum class Stopping { kNo, kByOperator, kForEver };

  void Loop();
  // True if a round is to be begun now.
  bool AwaitStart() ABSL_LOCKS_EXCLUDED(mu_);
  // Must be used whenever a time is noted. If the clock was set back, by two
  // hours for example, it moves the noted times back, too, so that the runner
  // does not wait for them.
  absl::Time Now() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // How long to wait after this failure.
  absl::Duration PauseAfter(const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LookForRoom(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Time NextStart(absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RunOne() ABSL_LOCKS_EXCLUDED(mu_);
  void OnNothingToDo() ABSL_LOCKS_EXCLUDED(mu_);
  void OnEnded(const jobs::RunSummary& did) ABSL_LOCKS_EXCLUDED(mu_);
  void OnStopped(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void OnFailed(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void OnStopByOperator() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndWishes(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A pause drops requests for which no caller waits any more, for only Stop()
  // could end them. The round that runs goes on to its end.
  void DropUnwatchedIfPaused() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  admin::RoundsState State() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string PausedFile() const;

  const RoundRunnerSettings settings_;
  RoundsJob& job_;
  Log& log_;
  const absl::Time started_;
  std::atomic<bool> stop_ = false;  // What the round looks at.

  storage::Mutex mu_;
  storage::Condition changed_;
  Schedule schedule_ ABSL_GUARDED_BY(mu_);
  absl::Duration stall_ ABSL_GUARDED_BY(mu_);
  bool is_paused_ ABSL_GUARDED_BY(mu_) = false;
  bool is_running_ ABSL_GUARDED_BY(mu_) = false;
  Stopping stopping_ ABSL_GUARDED_BY(mu_) = Stopping::kNo;
  std::vector<std::shared_ptr<Wish>> wishes_ ABSL_GUARDED_BY(mu_);

  absl::Time clock_ ABSL_GUARDED_BY(mu_);  // When it was last looked at.

  // When what begins: see NextStart().
  bool goes_on_ ABSL_GUARDED_BY(mu_) = false;  // A round was left open.
  absl::Time last_start_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  absl::Time last_end_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  absl::Time not_before_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  absl::Time look_again_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  std::optional<absl::Time> next_due_ ABSL_GUARDED_BY(mu_);

  // For people.
  int failures_ ABSL_GUARDED_BY(mu_) = 0;  // In a row.
  bool awaits_room_ ABSL_GUARDED_BY(mu_) = false;
  // Failures in a row with "disk full" though there is room: a quota, or
  // another disk.
  int failures_with_room_ ABSL_GUARDED_BY(mu_) = 0;
  std::string last_error_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, int64_t> results_ ABSL_GUARDED_BY(mu_);
  absl::Time last_success_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  absl::Time last_round_started_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  std::map<std::string, double> last_phases_ ABSL_GUARDED_BY(mu_);

  // For the watchdog.
  absl::Time sign_of_life_ ABSL_GUARDED_BY(mu_);
  std::string last_look_ ABSL_GUARDED_BY(mu_);

  std::thread thread_;
};

}  // namespace gannet::sites
