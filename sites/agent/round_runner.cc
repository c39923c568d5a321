#include "sites/agent/round_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "jobs/fetch/steady_now.h"
#include "sites/admin/message_times.h"
#include "sites/agent/round_messages.h"

namespace gannet::sites {
namespace {

constexpr char kPausedFile[] = "paused";
// The thread wakes at least so often, which is its sign of life.
constexpr absl::Duration kMostSleep = absl::Seconds(1);
constexpr absl::Duration kMostSilence = absl::Seconds(30);
constexpr size_t kMostWishes = 100;
constexpr absl::Duration kMostWait = absl::Hours(24 * 365);

}  // namespace

RoundRunner::RoundRunner(RoundRunnerSettings settings, RoundsJob& job, Log& log)
    : settings_(std::move(settings)),
      job_(job),
      log_(log),
      started_(settings_.now()),
      schedule_(settings_.schedule),
      stall_(settings_.stall),
      clock_(started_),
      results_({{"ok", 0}, {"failed", 0}, {"stopped", 0}}),
      sign_of_life_(settings_.steady_now()) {
  std::error_code none;
  is_paused_ = std::filesystem::exists(PausedFile(), none);
  goes_on_ = job_.HasOpenRound();
  const EndedRound last = job_.LastEnded();
  // The times may come from a clock that was ahead.
  last_start_ = last_round_started_ = std::min(last.started, started_);
  last_end_ = last_success_ = std::min(last.ended, started_);
  last_phases_ = last.phase_seconds;
}

RoundRunner::~RoundRunner() { End(); }

void RoundRunner::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void RoundRunner::End() {
  {
    storage::MutexLock lock(&mu_);
    stopping_ = Stopping::kForEver;
    stop_ = true;
    changed_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
}

void RoundRunner::SetSchedule(const Schedule& schedule, absl::Duration stall) {
  storage::MutexLock lock(&mu_);
  schedule_ = schedule;
  stall_ = stall;
  changed_.SignalAll();
}

// --- The thread
// ----------------------------------------------------------------

void RoundRunner::Loop() {
  while (AwaitStart()) RunOne();
  storage::MutexLock lock(&mu_);
  EndWishes(absl::UnavailableError(
      "the agent is stopping: nothing is lost, and the next one goes on"));
}

absl::Time RoundRunner::NextStart(absl::Time now) const {
  // Manual requests bypass pause, schedule and retry.
  if (!wishes_.empty()) return look_again_;
  if (is_paused_) return absl::InfiniteFuture();
  absl::Time next = schedule_.NextStart(last_start_, last_end_, now);
  // After a failure the next attempt is at not_before_, not at the next
  // scheduled time.
  if (failures_ > 0 && !schedule_.is_by_hand()) next = not_before_;
  // With schedule by-hand, an open round also waits for a manual request.
  if (goes_on_ && !schedule_.is_by_hand()) next = now;
  return std::max({next, not_before_, look_again_});
}

bool RoundRunner::AwaitStart() {
  storage::MutexLock lock(&mu_);
  for (;;) {
    if (stopping_ == Stopping::kForEver) return false;
    const absl::Time now = Now();
    sign_of_life_ = settings_.steady_now();
    LookForRoom(now);
    const absl::Time next = NextStart(now);
    if (next <= now) break;
    changed_.WaitFor(&mu_, std::min(next - now, kMostSleep));
  }
  is_running_ = true;
  stop_ = false;
  stopping_ = Stopping::kNo;
  last_look_.clear();
  return true;
}

absl::Time RoundRunner::Now() {
  const absl::Time now = settings_.now();
  const absl::Duration back = clock_ - now;
  clock_ = now;
  if (back <= absl::ZeroDuration()) return now;
  // Moves all noted times with the clock, so that waits keep their length.
  // (Infinite times stay infinite.)
  for (absl::Time* time :
       {&last_start_, &last_end_, &not_before_, &look_again_}) {
    *time -= back;
  }
  return now;
}

void RoundRunner::RunOne() {
  absl::Time started;
  {
    storage::MutexLock lock(&mu_);
    last_start_ = started = Now();
  }
  const jobs::RunSummary before = job_.lifetime();
  absl::StatusOr<bool> ran = job_.RunOne(stop_);
  if (ran.ok() && *ran) {
    {
      storage::MutexLock lock(&mu_);
      last_round_started_ = started;
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
  is_running_ = false;
  sign_of_life_ = settings_.steady_now();
  if (stopping_ == Stopping::kByOperator) {
    // Also if the round ended by itself before it saw that it should stop.
    OnStopByOperator();
    stopping_ = Stopping::kNo;
  }
  changed_.SignalAll();
}

void RoundRunner::OnStopByOperator() {
  const absl::Time now = Now();
  not_before_ = std::max(not_before_, now + settings_.after_stop);
  EndWishes(absl::CancelledError("stopped between rounds"));
}

void RoundRunner::OnNothingToDo() {
  const absl::StatusOr<std::optional<absl::Time>> due = job_.NextDue();
  if (!due.ok()) return OnFailed(due.status());
  const absl::Status may_begin = job_.MayBegin();
  bool finish = false;
  {
    storage::MutexLock lock(&mu_);
    const absl::Time now = Now();
    goes_on_ = false;
    failures_ = failures_with_room_ = 0;
    awaits_room_ = false;
    last_error_.clear();
    next_due_ = *due;
    // Sooner if the next due time is known. Not at once, though: if what is due
    // could not be taken, that would be a busy loop.
    look_again_ = now + settings_.look_again;
    if (due->has_value() && **due > now) {
      look_again_ = std::min(look_again_, **due);
    }
    // Callers are told why, rather than that nothing is left.
    if (!may_begin.ok()) EndWishes(may_begin);
    for (const std::shared_ptr<Wish>& wish : wishes_) {
      if (due->has_value() && **due <= now + wish->wait) continue;
      wish->is_done = finish = true;
    }
    std::erase_if(wishes_, [](const auto& wish) { return wish->is_done; });
  }
  if (!finish) return;
  if (absl::Status s = job_.NothingIsLeft(); !s.ok()) {
    log_.Warning("archive_file_not_finished",
                 {{"error", std::string(s.message())}});
  }
}

void RoundRunner::OnEnded(const jobs::RunSummary& did) {
  const EndedRound last = job_.LastEnded();
  const jobs::ProgressView view = job_.view();
  storage::MutexLock lock(&mu_);
  const absl::Time now = Now();
  last_end_ = last_success_ = now;
  last_phases_ = last.phase_seconds;
  not_before_ = look_again_ = absl::InfinitePast();
  next_due_.reset();
  goes_on_ = false;
  failures_ = failures_with_room_ = 0;
  awaits_room_ = false;
  last_error_.clear();
  ++results_["ok"];
  for (const std::shared_ptr<Wish>& wish : wishes_) {
    if (wish->rounds_left.has_value() && --*wish->rounds_left <= 0) {
      wish->is_done = true;
    }
  }
  std::erase_if(wishes_, [](const auto& wish) { return wish->is_done; });
  log_.Info("round_ended",
            {{"round", static_cast<int64_t>(view.round)},
             {"seconds", absl::ToDoubleSeconds(now - last_round_started_)},
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
  last_end_ = Now();
  last_round_started_ = last_start_;
  goes_on_ = true;
  not_before_ = last_end_ + settings_.after_stop;
  ++results_["stopped"];
  // If the agent ends, Loop() tells them.
  if (stopping_ != Stopping::kForEver) EndWishes(status);
  log_.Info("round_stopped", {{"why", std::string(status.message())}});
}

void RoundRunner::OnFailed(const absl::Status& status) {
  storage::MutexLock lock(&mu_);
  last_end_ = Now();
  goes_on_ = job_.HasOpenRound();
  last_error_ = std::string(status.message());
  ++results_["failed"];
  const absl::Duration pause = PauseAfter(status);
  not_before_ = last_end_ + pause;
  EndWishes(status);
  log_.Error("round_failed", {{"error", last_error_},
                              {"retry_seconds", absl::ToDoubleSeconds(pause)}});
}

absl::Duration RoundRunner::PauseAfter(const absl::Status& status) {
  const auto doubled = [&](absl::Duration first, int times) {
    return std::min(first * (int64_t{1} << std::min(times, 20)),
                    settings_.max_retry);
  };
  const absl::Duration pause = doubled(settings_.retry, failures_++);
  const bool is_full = absl::IsResourceExhausted(status);
  awaits_room_ = is_full && !job_.HasRoom();
  if (!is_full || awaits_room_) {
    failures_with_room_ = 0;
    return pause;
  }
  return doubled(settings_.room_retry, failures_with_room_++);
}

void RoundRunner::LookForRoom(absl::Time now) {
  if (!awaits_room_ || now < last_end_ + settings_.room_retry) return;
  if (!job_.HasRoom()) return;
  awaits_room_ = false;
  not_before_ = absl::InfinitePast();
  log_.Info("room_on_disk_again", {});
}

void RoundRunner::EndWishes(const absl::Status& status) {
  for (const std::shared_ptr<Wish>& wish : wishes_) {
    wish->is_done = true;
    wish->status = status;
  }
  wishes_.clear();
  changed_.SignalAll();
}

void RoundRunner::DropUnwatchedIfPaused() {
  if (!is_paused_) return;
  std::erase_if(wishes_, [](const auto& wish) { return !wish->is_watched; });
}

bool RoundRunner::ShowsLife() {
  const jobs::ProgressView view = job_.view();
  const std::string look = fmt::format(
      "{} {} {} {} {} {}", view.round, static_cast<int>(view.phase),
      view.counts.completed(), view.counts.released, view.bytes, view.settled);
  storage::MutexLock lock(&mu_);
  const absl::Time now = settings_.steady_now();
  if (!is_running_) return now - sign_of_life_ < kMostSilence;
  if (look != last_look_) {
    last_look_ = look;
    sign_of_life_ = now;
  }
  return now - sign_of_life_ < stall_;
}

// --- What operators ask
// ----------------------------------------------------------

admin::RoundsState RoundRunner::State() {
  admin::RoundsState state;
  state.set_schedule(schedule_.ToText());
  state.set_paused(is_paused_);
  state.set_last_error(last_error_);
  // Not while it only looks whether there is something to do.
  if (is_running_ && job_.HasOpenRound()) {
    state.set_state(stopping_ == Stopping::kNo ? "running" : "stopping");
    return state;
  }
  state.set_state(is_paused_ && wishes_.empty() ? "paused" : "waiting");
  const absl::Time now = settings_.now();
  absl::Time next = NextStart(now);
  // It will look again soon, but a round will be only when something is due.
  if (look_again_ > absl::InfinitePast() &&
      (schedule_.is_continuous() || !wishes_.empty())) {
    if (!next_due_.has_value()) return state;
    next = std::max(next, *next_due_);
  }
  if (next != absl::InfiniteFuture()) {
    *state.mutable_next_round() = ToMessage(std::max(next, now));
  }
  return state;
}

admin::AgentStatus RoundRunner::Status() {
  admin::AgentStatus status;
  const jobs::ProgressView view = job_.view();
  jobs::RunSummary lifetime = job_.lifetime();
  lifetime.elapsed = std::max(settings_.now() - started_, absl::ZeroDuration());
  *status.mutable_lifetime() = CountsMessage(lifetime);
  status.set_pid(getpid());
  status.set_version(settings_.version);
  *status.mutable_started() = ToMessage(started_);
  {
    storage::MutexLock lock(&mu_);
    *status.mutable_rounds() = State();
    if (view.phase != proto::NO_ROUND) {
      *status.mutable_progress() = ProgressMessage(view);
    }
    for (const auto& [result, count] : results_) {
      (*status.mutable_rounds_by_result())[result] = count;
    }
    if (last_success_ != absl::InfinitePast()) {
      *status.mutable_last_success() = ToMessage(last_success_);
    }
    const absl::Time began = view.phase != proto::NO_ROUND
                                 ? view.round_started
                                 : last_round_started_;
    if (began != absl::InfinitePast()) {
      *status.mutable_last_round_started() = ToMessage(began);
    }
    for (const auto& [phase, seconds] : last_phases_) {
      (*status.mutable_last_phase_seconds())[phase] = seconds;
    }
  }
  if (settings_.add_to_status) settings_.add_to_status(status);
  return status;
}

absl::Status RoundRunner::Run(const admin::RunRoundsRequest& request,
                              const Sink<admin::RunProgress>& sink) {
  const auto wish = std::make_shared<Wish>();
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
  const absl::Time started = settings_.now();
  const jobs::RunSummary before = job_.lifetime();
  {
    storage::MutexLock lock(&mu_);
    if (stopping_ == Stopping::kForEver) {
      return absl::UnavailableError("the agent is stopping");
    }
    if (wishes_.size() >= kMostWishes) {
      return absl::AbortedError(fmt::format(
          "{} others have asked for rounds already; they run", kMostWishes));
    }
    wishes_.push_back(wish);
    look_again_ = absl::InfinitePast();
    changed_.SignalAll();
  }
  absl::Status status;
  for (bool is_done = false; !is_done;) {
    jobs::ProgressView view = job_.view();
    {
      storage::MutexLock lock(&mu_);
      const absl::Time until = jobs::SteadyNow() + settings_.progress_every;
      for (absl::Time now;
           !wish->is_done && (now = jobs::SteadyNow()) < until;) {
        changed_.WaitFor(&mu_, until - now);
      }
      is_done = wish->is_done;
      status = wish->status;
      if (!is_running_ && next_due_.has_value())
        view.waiting_until = *next_due_;
    }
    if (is_done) break;
    admin::RunProgress message;
    *message.mutable_progress() = ProgressMessage(view);
    if (!sink(message)) {
      storage::MutexLock lock(&mu_);
      wish->is_watched = false;
      DropUnwatchedIfPaused();
      return absl::OkStatus();
    }
  }
  admin::RunProgress last;
  *last.mutable_progress() = ProgressMessage(job_.view());
  jobs::RunSummary summary = Since(before, job_.lifetime());
  summary.elapsed = settings_.now() - started;
  *last.mutable_summary() = CountsMessage(summary);
  if (settings_.site_status) settings_.site_status(*last.mutable_status());
  (void)sink(last);
  return status;
}

absl::Status RoundRunner::Stop(admin::RoundsState& reply) {
  storage::MutexLock lock(&mu_);
  if (is_running_ && stopping_ == Stopping::kNo) {
    stopping_ = Stopping::kByOperator;
    stop_ = true;
  } else if (!is_running_) {
    OnStopByOperator();
  }
  while (is_running_ && stopping_ == Stopping::kByOperator) {
    changed_.Wait(&mu_);
  }
  reply = State();
  return absl::OkStatus();
}

std::string RoundRunner::PausedFile() const {
  return settings_.data_folder + "/" + kPausedFile;
}

absl::Status RoundRunner::Pause(admin::RoundsState& reply) {
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
  if (!std::exchange(is_paused_, true)) log_.Info("rounds_paused", {});
  DropUnwatchedIfPaused();
  changed_.SignalAll();
  reply = State();
  return absl::OkStatus();
}

absl::Status RoundRunner::Resume(admin::RoundsState& reply) {
  storage::MutexLock lock(&mu_);
  if (unlink(PausedFile().c_str()) != 0 && errno != ENOENT) {
    return absl::InternalError(fmt::format("{} cannot be removed: {}",
                                           PausedFile(), std::strerror(errno)));
  }
  if (std::exchange(is_paused_, false)) log_.Info("rounds_resumed", {});
  not_before_ = absl::InfinitePast();  // Resume means now.
  changed_.SignalAll();
  reply = State();
  return absl::OkStatus();
}

absl::Status RoundRunner::Reload(admin::Reloaded& reply) {
  if (!settings_.reload) {
    return absl::FailedPreconditionError("there is no file to read again");
  }
  return settings_.reload(reply);
}

}  // namespace gannet::sites
