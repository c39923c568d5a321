// RoundRunner runs a site's rounds in a thread of its own: by the schedule, or
// because somebody asks for some now. There is one thread, so rounds never
// overlap. When which begins, RoundTimetable decides; a failure is said in the
// log and in the status. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "sites/admin/rounds_control.h"
#include "sites/agent/log.h"
#include "sites/agent/round_timetable.h"
#include "sites/agent/rounds_job.h"
#include "sites/config/schedule.h"
#include "storage/clock.h"
#include "storage/mutex.h"

namespace gannet::sites {

struct RoundRunnerSettings {
  std::string data_folder;  // Where the file `paused` is kept.
  std::string version;
  Schedule schedule;
  absl::Duration progress_every = absl::Milliseconds(500);
  // A round that shows no progress for so long hangs.
  absl::Duration stall = absl::Minutes(45);
  // What the agent adds to Status(): calls, certificates.
  std::function<void(admin::AgentStatus&)> add_to_status;
  // The site's status, for the last message of RunRounds().
  std::function<void(admin::Status&)> site_status;
  std::function<absl::Status(admin::Reloaded&)> reload;
};

class RoundRunner : public RoundsControl {
 public:
  // `job`, `log` and `clock` must outlive this.
  RoundRunner(RoundRunnerSettings settings, RoundsJob& job, Log& log,
              storage::Clock& clock);
  ~RoundRunner() override;

  // Begins to run rounds.
  void Start();
  // Stops the round that runs, cleanly, and runs no more; returns when it has
  // stopped, which takes a few seconds. Those in RunRounds() get kUnavailable.
  void End();

  // `stall` as in the settings.
  void SetSchedule(const Schedule& schedule, absl::Duration stall)
      ABSL_LOCKS_EXCLUDED(mu_);

  // False if the thread hangs: what a watchdog asks, every few seconds.
  bool ShowsLife() ABSL_LOCKS_EXCLUDED(mu_);

  admin::AgentStatus Status() override;
  GANNET_ROUNDS_VERBS(GANNET_DECLARE_ASK, GANNET_DECLARE_LISTEN)

 private:
  void Loop();
  // True if a round is to be begun now.
  bool AwaitStart() ABSL_LOCKS_EXCLUDED(mu_);
  void RunOne() ABSL_LOCKS_EXCLUDED(mu_);
  void OnNothingToDo() ABSL_LOCKS_EXCLUDED(mu_);
  void OnEnded(const jobs::RunSummary& did) ABSL_LOCKS_EXCLUDED(mu_);
  void OnStopped(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void OnFailed(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void NoteStart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteSuccess(const EndedRound& last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  admin::RoundsState State() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string PausedFile() const;

  const RoundRunnerSettings settings_;
  RoundsJob& job_;
  Log& log_;
  storage::Clock& clock_;
  const absl::Time started_;
  const absl::Time steady_start_;
  std::atomic<bool> stop_ = false;  // What the round looks at.

  storage::Mutex mu_;
  storage::Condition changed_;
  RoundTimetable timetable_ ABSL_GUARDED_BY(mu_);
  // What is kept for people: the rest is added by Status().
  admin::AgentStatus known_ ABSL_GUARDED_BY(mu_);

  // For the watchdog.
  absl::Duration stall_ ABSL_GUARDED_BY(mu_);
  absl::Time sign_of_life_ ABSL_GUARDED_BY(mu_);
  std::string last_progress_ ABSL_GUARDED_BY(mu_);

  std::thread thread_;
};

}  // namespace gannet::sites
