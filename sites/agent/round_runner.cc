#include "sites/agent/round_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "sites/admin/message_times.h"
#include "sites/agent/round_messages.h"

namespace gannet::sites {
namespace {

constexpr char kPausedFile[] = "paused";
// The thread wakes at least so often, which is its sign of life.
constexpr absl::Duration kMostSleep = absl::Seconds(1);
constexpr absl::Duration kMostSilence = absl::Seconds(30);
constexpr absl::Duration kMostWait = absl::Hours(24 * 365);

}  // namespace

RoundRunner::RoundRunner(RoundRunnerSettings settings, RoundsJob& job, Log& log,
                         storage::Clock& clock)
    : settings_(std::move(settings)),
      job_(job),
      log_(log),
      clock_(clock),
      started_(clock.Now()),
      steady_start_(clock.SteadyNow()),
      timetable_(settings_.schedule, started_),
      stall_(settings_.stall),
      sign_of_life_(steady_start_) {
  std::error_code none;
  if (std::filesystem::exists(PausedFile(), none)) timetable_.Pause();
  known_.set_pid(getpid());
  known_.set_version(settings_.version);
  *known_.mutable_started() = ToMessage(started_);
  for (const char* result : {"ok", "failed", "stopped"}) {
    (*known_.mutable_rounds_by_result())[result] = 0;
  }
  const EndedRound last = job_.LastEnded();
  timetable_.Remember(last.started, last.ended, job_.HasOpenRound());
  if (last.ended == absl::InfinitePast()) return;
  NoteStart();
  NoteSuccess(last);
}

RoundRunner::~RoundRunner() { End(); }

void RoundRunner::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void RoundRunner::End() {
  {
    storage::MutexLock lock(&mu_);
    timetable_.End();
    stop_ = true;
    changed_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
}

void RoundRunner::SetSchedule(const Schedule& schedule, absl::Duration stall) {
  storage::MutexLock lock(&mu_);
  timetable_.SetSchedule(schedule);
  stall_ = stall;
  changed_.SignalAll();
}

// --- The thread --------------------------------------------------------------

void RoundRunner::Loop() {
  while (AwaitStart()) RunOne();
  storage::MutexLock lock(&mu_);
  timetable_.EndWishes(absl::UnavailableError(
      "the agent is stopping: nothing is lost, and the next one goes on"));
  changed_.SignalAll();
}

bool RoundRunner::AwaitStart() {
  storage::MutexLock lock(&mu_);
  for (;;) {
    if (timetable_.is_ending()) return false;
    const absl::Time now = clock_.Now();
    sign_of_life_ = clock_.SteadyNow();
    timetable_.See(now);
    if (timetable_.AwaitsRoom(now) && job_.HasRoom()) {
      timetable_.OnRoom();
      log_.Info("room_on_disk_again", {});
    }
    const absl::Time next = timetable_.NextStart(now);
    if (next <= now) {
      timetable_.OnBegun(now);
      stop_ = false;
      last_progress_.clear();
      return true;
    }
    clock_.WaitFor(changed_, &mu_, std::min(next - now, kMostSleep));
  }
}

void RoundRunner::RunOne() {
  const jobs::RunSummary before = job_.lifetime();
  const absl::StatusOr<bool> ran = job_.RunOne(stop_);
  if (ran.ok() && *ran) {
    {
      storage::MutexLock lock(&mu_);
      NoteStart();
    }
    const absl::Status progress = job_.CheckProgress();
    progress.ok() ? OnEnded(Since(before, job_.lifetime()))
                  : OnFailed(progress);
  } else if (ran.ok()) {
    OnNothingToDo();
  } else if (absl::IsCancelled(ran.status())) {
    OnStopped(ran.status());
  } else {
    OnFailed(ran.status());
  }
  storage::MutexLock lock(&mu_);
  timetable_.OnOver(clock_.Now());
  sign_of_life_ = clock_.SteadyNow();
  changed_.SignalAll();
}

void RoundRunner::OnNothingToDo() {
  const absl::StatusOr<std::optional<absl::Time>> due = job_.NextDue();
  if (!due.ok()) return OnFailed(due.status());
  const absl::Status may_begin = job_.MayBegin();
  {
    storage::MutexLock lock(&mu_);
    known_.mutable_rounds()->clear_last_error();
    if (!timetable_.OnNothingToDo(clock_.Now(), *due, may_begin)) return;
  }
  if (absl::Status s = job_.NothingIsLeft(); !s.ok()) {
    log_.Warning("archive_file_not_finished",
                 {{"error", std::string(s.message())}});
  }
}

void RoundRunner::OnEnded(const jobs::RunSummary& did) {
  const EndedRound last = job_.LastEnded();
  const jobs::ProgressView view = job_.view();
  storage::MutexLock lock(&mu_);
  timetable_.OnEnded(clock_.Now());
  known_.mutable_rounds()->clear_last_error();
  ++(*known_.mutable_rounds_by_result())["ok"];
  NoteSuccess(last);
  log_.Info("round_ended",
            {{"round", static_cast<int64_t>(view.round)},
             {"seconds", absl::ToDoubleSeconds(timetable_.last_end() -
                                               timetable_.last_start())},
             {"fetched", did.counts.fetched},
             {"unchanged", did.counts.unchanged},
             {"moved", did.counts.moved},
             {"gone", did.counts.gone},
             {"failed", did.counts.failed},
             {"blocked", did.counts.blocked},
             {"bytes", did.bytes}});
}

void RoundRunner::OnStopped(const absl::Status& status) {
  storage::MutexLock lock(&mu_);
  timetable_.OnStopped(clock_.Now(), status);
  NoteStart();
  ++(*known_.mutable_rounds_by_result())["stopped"];
  log_.Info("round_stopped", {{"why", std::string(status.message())}});
}

void RoundRunner::OnFailed(const absl::Status& status) {
  const bool lacks_room = absl::IsResourceExhausted(status) && !job_.HasRoom();
  storage::MutexLock lock(&mu_);
  const absl::Duration wait =
      timetable_.OnFailed(clock_.Now(), status, lacks_room);
  const std::string error(status.message());
  known_.mutable_rounds()->set_last_error(error);
  ++(*known_.mutable_rounds_by_result())["failed"];
  log_.Error("round_failed", {{"error", error},
                              {"retry_seconds", absl::ToDoubleSeconds(wait)}});
}

void RoundRunner::NoteStart() {
  *known_.mutable_last_round_started() = ToMessage(timetable_.last_start());
}

void RoundRunner::NoteSuccess(const EndedRound& last) {
  *known_.mutable_last_success() = ToMessage(timetable_.last_end());
  known_.clear_last_phase_seconds();
  for (const auto& [phase, seconds] : last.phase_seconds) {
    (*known_.mutable_last_phase_seconds())[phase] = seconds;
  }
}

bool RoundRunner::ShowsLife() {
  const jobs::ProgressView view = job_.view();
  const std::string progress = fmt::format(
      "{} {} {} {} {} {}", view.round, static_cast<int>(view.phase),
      view.counts.completed(), view.counts.released, view.bytes, view.settled);
  storage::MutexLock lock(&mu_);
  const absl::Time now = clock_.SteadyNow();
  if (!timetable_.is_running()) return now - sign_of_life_ < kMostSilence;
  if (progress != last_progress_) {
    last_progress_ = progress;
    sign_of_life_ = now;
  }
  return now - sign_of_life_ < stall_;
}

// --- What operators ask ------------------------------------------------------

admin::RoundsState RoundRunner::State() {
  admin::RoundsState state = known_.rounds();
  state.set_schedule(timetable_.schedule().ToText());
  state.set_paused(timetable_.is_paused());
  // Not while it only looks whether there is something to do.
  if (timetable_.is_running() && job_.HasOpenRound()) {
    const bool stops = timetable_.is_stopping() || timetable_.is_ending();
    state.set_state(stops ? "stopping" : "running");
    return state;
  }
  const bool rests = timetable_.is_paused() && !timetable_.has_wishes();
  state.set_state(rests ? "paused" : "waiting");
  if (const auto next = timetable_.NextRound(clock_.Now()); next.has_value()) {
    *state.mutable_next_round() = ToMessage(*next);
  }
  return state;
}

admin::AgentStatus RoundRunner::Status() {
  const jobs::ProgressView view = job_.view();
  jobs::RunSummary lifetime = job_.lifetime();
  lifetime.elapsed = clock_.SteadyNow() - steady_start_;
  admin::AgentStatus status;
  {
    storage::MutexLock lock(&mu_);
    status = known_;
    *status.mutable_rounds() = State();
  }
  *status.mutable_lifetime() = CountsMessage(lifetime);
  if (view.phase != proto::NO_ROUND) {
    *status.mutable_progress() = ProgressMessage(view);
    *status.mutable_last_round_started() = ToMessage(view.round_started);
  }
  if (settings_.add_to_status) settings_.add_to_status(status);
  return status;
}

absl::Status RoundRunner::RunRounds(const admin::RunRoundsRequest& request,
                                    const Sink<admin::RunProgress>& sink) {
  const auto wish = std::make_shared<RoundTimetable::Wish>();
  if (request.has_rounds()) {
    if (request.rounds() <= 0) {
      return absl::InvalidArgumentError("'rounds' must be above zero");
    }
    wish->rounds_left = request.rounds();
  }
  wish->wait = FromMessage(request.wait());
  if (wish->wait < absl::ZeroDuration()) {
    return absl::InvalidArgumentError("'wait' must not be negative");
  }
  wish->wait = std::min(wish->wait, kMostWait);
  const absl::Time started = clock_.SteadyNow();
  const jobs::RunSummary before = job_.lifetime();
  {
    storage::MutexLock lock(&mu_);
    if (absl::Status s = timetable_.Ask(wish); !s.ok()) return s;
    changed_.SignalAll();
  }
  absl::Status status;
  for (bool is_done = false; !is_done;) {
    jobs::ProgressView view = job_.view();
    {
      storage::MutexLock lock(&mu_);
      const absl::Time until = clock_.SteadyNow() + settings_.progress_every;
      while (!wish->is_done && clock_.SteadyNow() < until) {
        clock_.WaitUntil(changed_, &mu_, until);
      }
      is_done = wish->is_done;
      status = wish->status;
      if (const auto due = timetable_.next_due();
          due.has_value() && !timetable_.is_running()) {
        view.waiting_until = *due;
      }
    }
    if (is_done) break;
    admin::RunProgress message;
    *message.mutable_progress() = ProgressMessage(view);
    if (!sink(message)) {
      storage::MutexLock lock(&mu_);
      timetable_.Unwatch(*wish);
      return absl::OkStatus();
    }
  }
  admin::RunProgress last;
  *last.mutable_progress() = ProgressMessage(job_.view());
  jobs::RunSummary summary = Since(before, job_.lifetime());
  summary.elapsed = clock_.SteadyNow() - started;
  *last.mutable_summary() = CountsMessage(summary);
  if (settings_.site_status) settings_.site_status(*last.mutable_status());
  (void)sink(last);
  return status;
}

absl::Status RoundRunner::StopRounds(const admin::StopRoundsRequest&,
                                     admin::RoundsState& reply) {
  storage::MutexLock lock(&mu_);
  if (timetable_.Stop(clock_.Now())) stop_ = true;
  changed_.SignalAll();
  while (timetable_.is_running() && timetable_.is_stopping()) {
    changed_.Wait(&mu_);
  }
  reply = State();
  return absl::OkStatus();
}

std::string RoundRunner::PausedFile() const {
  return settings_.data_folder + "/" + kPausedFile;
}

absl::Status RoundRunner::PauseRounds(const admin::PauseRoundsRequest&,
                                      admin::RoundsState& reply) {
  storage::MutexLock lock(&mu_);
  const int fd =
      open(PausedFile().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) {
    return absl::InternalError(
        fmt::format("{} cannot be written, so a pause would not outlive the "
                    "agent: {}",
                    PausedFile(), std::strerror(errno)));
  }
  close(fd);
  if (timetable_.Pause()) log_.Info("rounds_paused", {});
  changed_.SignalAll();
  reply = State();
  return absl::OkStatus();
}

absl::Status RoundRunner::ResumeRounds(const admin::ResumeRoundsRequest&,
                                       admin::RoundsState& reply) {
  storage::MutexLock lock(&mu_);
  if (unlink(PausedFile().c_str()) != 0 && errno != ENOENT) {
    return absl::InternalError(fmt::format("{} cannot be removed: {}",
                                           PausedFile(), std::strerror(errno)));
  }
  if (timetable_.Resume()) log_.Info("rounds_resumed", {});
  changed_.SignalAll();
  reply = State();
  return absl::OkStatus();
}

absl::Status RoundRunner::Reload(const admin::ReloadRequest&,
                                 admin::Reloaded& reply) {
  if (!settings_.reload) {
    return absl::FailedPreconditionError("there is no file to read again");
  }
  return settings_.reload(reply);
}

}  // namespace gannet::sites
