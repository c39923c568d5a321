// ScriptedRounds are rounds that do what a test says, and notice if two of them
// run at once. Thread-safe.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <thread>

#include "sites/agent/rounds_job.h"
#include "storage/mutex.h"

namespace gannet::sites {

class ScriptedRounds : public RoundsJob {
 public:
  using Round = std::function<absl::StatusOr<bool>(const std::atomic<bool>&)>;

  // Done in this order, then `always`.
  void Add(Round round) ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    script_.push_back(std::move(round));
  }
  static absl::StatusOr<bool> Ends(const std::atomic<bool>&) { return true; }
  static absl::StatusOr<bool> HasNothing(const std::atomic<bool>&) {
    return false;
  }
  static absl::StatusOr<bool> UntilStopped(const std::atomic<bool>& stop) {
    while (!stop) std::this_thread::yield();
    return absl::CancelledError("stopped while fetching");
  }
  Round always = HasNothing;
  std::atomic<int> looks = 0, ended = 0, at_once = 0, most_at_once = 0;
  std::atomic<int> nothing_left = 0;
  std::atomic<bool> is_open = false, is_fruitless = false, has_room = true,
                    may_begin = true;
  std::atomic<int64_t> due_ms = 0;  // 0: nothing is due.

  absl::StatusOr<bool> RunOne(const std::atomic<bool>& stop) override {
    ++looks;
    if (++at_once > most_at_once) most_at_once = at_once.load();
    Round round = always;
    {
      storage::MutexLock lock(&mu_);
      if (!script_.empty()) {
        round = script_.front();
        script_.pop_front();
      }
    }
    is_open = true;
    const absl::StatusOr<bool> did = round(stop);
    is_open = absl::IsCancelled(did.status());
    if (did.ok() && *did) ++ended;
    --at_once;
    return did;
  }
  absl::StatusOr<std::optional<absl::Time>> NextDue() override {
    if (due_ms == 0) return std::nullopt;
    return absl::FromUnixMillis(due_ms);
  }
  absl::Status MayBegin() override {
    return may_begin ? absl::OkStatus()
                     : absl::FailedPreconditionError("paused by all");
  }
  absl::Status CheckProgress() override {
    return is_fruitless ? absl::FailedPreconditionError("fruitless")
                        : absl::OkStatus();
  }
  absl::Status NothingIsLeft() override {
    ++nothing_left;
    return absl::OkStatus();
  }
  bool HasOpenRound() override { return is_open; }
  bool HasRoom() override { return has_room; }
  EndedRound LastEnded() override { return last; }
  jobs::ProgressView view() override { return {}; }
  jobs::RunSummary lifetime() override {
    jobs::RunSummary summary;
    summary.rounds = ended;
    summary.counts.fetched = 10 * ended;
    return summary;
  }

  EndedRound last;

 private:
  storage::Mutex mu_;
  std::deque<Round> script_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::sites
