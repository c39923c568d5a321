// RoundTimetable decides when a site's next round begins. What it does next:
//
//   somebody asked for rounds    ─► now, whatever the schedule says, and, while
//                                   they wait for them, a pause
//   paused                       ─► nothing, until Resume()
//   a round was left open        ─► it goes on, at once
//   else                         ─► at the schedule's next time
//
// A round that fails (settings that cannot work, say) is tried again after a
// minute, then two, up to half an hour. One that failed for want of room on the
// disk goes on some seconds after there is room again: that is checked every
// second at no cost, while a round on a full disk would ask web servers for
// pages that it cannot store. Where there is nothing to do, `continuous` looks
// again every few seconds, which costs a few reads: so URLs that were injected,
// and pages that become due, are soon begun with.
//
// For example, `every 30m`:
//
//   12:00  OnBegun, OnEnded at 12:10       next 12:30
//   12:30  OnBegun, OnFailed at 12:31      next 12:32
//   12:32  OnBegun, OnEnded at 12:40       next 13:00
//   12:50  Ask                             next 12:50
//   12:50  OnBegun, Stop at 12:55, OnStopped, OnOver
//                                          next 12:56: it goes on
//
// It has no thread, no clock and no disk: whoever runs the rounds
// (round_runner.h) tells it what has happened, and when. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "sites/config/schedule.h"

namespace gannet::sites {

class RoundTimetable {
 public:
  // Rounds that a caller asked for. They go on if the caller leaves, until a
  // pause.
  struct Wish {
    std::optional<int64_t> rounds_left;
    absl::Duration wait;     // For what is due so soon.
    bool is_watched = true;  // Who asked still waits for the end.
    bool is_done = false;
    absl::Status status;
  };

  RoundTimetable(const Schedule& schedule, absl::Time now)
      : schedule_(schedule), now_(now) {}

  // The last round that ended before the start, and whether one was left open.
  // Times after now may come from a clock that was ahead.
  void Remember(absl::Time last_start, absl::Time last_end, bool is_open);
  void SetSchedule(const Schedule& schedule) { schedule_ = schedule; }

  // When the next round begins: `now` or earlier means at once, InfiniteFuture
  // never.
  absl::Time NextStart(absl::Time now) const;
  // The same for people: nothing if there may be no round then, because it only
  // looks whether there is something to do.
  std::optional<absl::Time> NextRound(absl::Time now) const;

  // --- The rounds. If `now` is before the last one, the clock was set back, by
  // two hours for example: then the noted times move with it, so that nobody
  // waits for them. See() does nothing else.
  void See(absl::Time now);
  void OnBegun(absl::Time now);
  void OnEnded(absl::Time now);
  // `due`: when the next page is. `may_begin` says why no round may, if so.
  // True: callers are done, because nothing is left.
  bool OnNothingToDo(absl::Time now, std::optional<absl::Time> due,
                     const absl::Status& may_begin);
  void OnStopped(absl::Time now, const absl::Status& why);
  // `lacks_room`: there is none on the disk. Returns how long to wait.
  absl::Duration OnFailed(absl::Time now, const absl::Status& why,
                          bool lacks_room);
  // After one of the four.
  void OnOver(absl::Time now);

  // Whether to look for room on the disk; OnRoom() if there is some.
  bool AwaitsRoom(absl::Time now) const;
  void OnRoom() {
    awaits_room_ = false;
    not_before_ = absl::InfinitePast();
  }

  // --- What operators ask.
  // kUnavailable after End(); kAborted: too many have asked.
  absl::Status Ask(std::shared_ptr<Wish> wish);
  // Who asked has left.
  void Unwatch(Wish& wish);
  // True: a round runs, which is to be stopped.
  bool Stop(absl::Time now);
  // False: it was so before.
  bool Pause();
  bool Resume();
  // No round begins any more.
  void End() {
    is_ending_ = true;
    is_stopping_ = false;
  }
  void EndWishes(const absl::Status& status);

  const Schedule& schedule() const { return schedule_; }
  bool is_running() const { return is_running_; }
  bool is_stopping() const { return is_stopping_; }  // By Stop().
  bool is_ending() const { return is_ending_; }
  bool is_paused() const { return is_paused_; }
  bool has_wishes() const { return !wishes_.empty(); }
  absl::Time last_start() const { return last_start_; }
  absl::Time last_end() const { return last_end_; }
  std::optional<absl::Time> next_due() const { return next_due_; }

 private:
  absl::Duration WaitAfter(const absl::Status& why, bool lacks_room);
  // It was no failure, and no round is left open.
  void OnGood(absl::Time now, std::optional<absl::Time> due);
  void DropDone();
  // A pause drops requests for which no caller waits any more, for only Stop()
  // could end them. The round that runs goes on to its end.
  void DropUnwatchedIfPaused();

  Schedule schedule_;
  std::vector<std::shared_ptr<Wish>> wishes_;
  bool is_paused_ = false;
  bool is_running_ = false;
  bool is_stopping_ = false;
  bool is_ending_ = false;

  absl::Time now_;  // When it was told last.

  // When what begins: see NextStart().
  bool goes_on_ = false;  // A round was left open.
  absl::Time last_start_ = absl::InfinitePast();
  absl::Time last_end_ = absl::InfinitePast();
  absl::Time not_before_ = absl::InfinitePast();
  absl::Time look_again_ = absl::InfinitePast();
  std::optional<absl::Time> next_due_;

  int failures_ = 0;  // In a row.
  bool awaits_room_ = false;
  // Failures in a row with "disk full" though there is room: a quota, or
  // another disk.
  int failures_with_room_ = 0;
};

}  // namespace gannet::sites
