#include "sites/agent/round_timetable.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gannet::sites {
namespace {

constexpr size_t kMostWishes = 100;
constexpr absl::Duration kLookAgain = absl::Seconds(2);
constexpr absl::Duration kFirstRetry = absl::Minutes(1);
// The least wait after the disk was full, even if there is room: the crawl DB
// takes some seconds to accept writes again.
constexpr absl::Duration kFirstRetryWithRoom = absl::Seconds(5);
constexpr absl::Duration kLastRetry = absl::Minutes(30);
// The schedule waits so long after Stop(), so that no round begins while the
// operator still works.
constexpr absl::Duration kAfterStop = absl::Minutes(1);

// A wait that doubles with each failure.
absl::Duration Doubled(absl::Duration first, int times) {
  return std::min(first * (int64_t{1} << std::min(times, 20)), kLastRetry);
}

}  // namespace

void RoundTimetable::Remember(absl::Time last_start, absl::Time last_end,
                              bool is_open) {
  last_start_ = std::min(last_start, now_);
  last_end_ = std::min(last_end, now_);
  goes_on_ = is_open;
}

absl::Time RoundTimetable::NextStart(absl::Time now) const {
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

std::optional<absl::Time> RoundTimetable::NextRound(absl::Time now) const {
  absl::Time next = NextStart(now);
  // It will look again soon, but a round will be only when something is due.
  if (look_again_ > absl::InfinitePast() &&
      (schedule_.is_continuous() || !wishes_.empty())) {
    if (!next_due_.has_value()) return std::nullopt;
    next = std::max(next, *next_due_);
  }
  if (next == absl::InfiniteFuture()) return std::nullopt;
  return std::max(next, now);
}

void RoundTimetable::See(absl::Time now) {
  const absl::Duration back = now_ - now;
  now_ = now;
  if (back <= absl::ZeroDuration()) return;
  // Waits keep their length. (Infinite times stay infinite.)
  for (absl::Time* time :
       {&last_start_, &last_end_, &not_before_, &look_again_}) {
    *time -= back;
  }
}

void RoundTimetable::OnBegun(absl::Time now) {
  See(now);
  last_start_ = now;
  is_running_ = true;
}

void RoundTimetable::OnGood(absl::Time now, std::optional<absl::Time> due) {
  See(now);
  next_due_ = due;
  goes_on_ = false;
  failures_ = failures_with_room_ = 0;
  awaits_room_ = false;
}

void RoundTimetable::OnEnded(absl::Time now) {
  OnGood(now, std::nullopt);
  last_end_ = now;
  not_before_ = look_again_ = absl::InfinitePast();
  for (const std::shared_ptr<Wish>& wish : wishes_) {
    if (wish->rounds_left.has_value() && --*wish->rounds_left <= 0) {
      wish->is_done = true;
    }
  }
  DropDone();
}

bool RoundTimetable::OnNothingToDo(absl::Time now,
                                   std::optional<absl::Time> due,
                                   const absl::Status& may_begin) {
  OnGood(now, due);
  // Sooner if the next due time is known. Not at once, though: if what is due
  // could not be taken, that would be a busy loop.
  look_again_ = now + kLookAgain;
  if (due.has_value() && *due > now) look_again_ = std::min(look_again_, *due);
  // Callers are told why, rather than that nothing is left.
  if (!may_begin.ok()) EndWishes(may_begin);
  bool is_any_done = false;
  for (const std::shared_ptr<Wish>& wish : wishes_) {
    if (due.has_value() && *due <= now + wish->wait) continue;
    wish->is_done = is_any_done = true;
  }
  DropDone();
  return is_any_done;
}

void RoundTimetable::OnStopped(absl::Time now, const absl::Status& why) {
  See(now);
  last_end_ = now;
  goes_on_ = true;
  not_before_ = now + kAfterStop;
  // If the agent ends, that is what they are told.
  if (!is_ending_) EndWishes(why);
}

absl::Duration RoundTimetable::OnFailed(absl::Time now, const absl::Status& why,
                                        bool lacks_room) {
  See(now);
  last_end_ = now;
  const absl::Duration wait = WaitAfter(why, lacks_room);
  not_before_ = now + wait;
  EndWishes(why);
  return wait;
}

absl::Duration RoundTimetable::WaitAfter(const absl::Status& why,
                                         bool lacks_room) {
  const absl::Duration wait = Doubled(kFirstRetry, failures_++);
  const bool is_full = absl::IsResourceExhausted(why);
  awaits_room_ = is_full && lacks_room;
  if (!is_full || awaits_room_) {
    failures_with_room_ = 0;
    return wait;
  }
  return Doubled(kFirstRetryWithRoom, failures_with_room_++);
}

void RoundTimetable::OnOver(absl::Time now) {
  is_running_ = false;
  // Also if the round ended by itself before it saw that it should stop.
  if (std::exchange(is_stopping_, false)) Stop(now);
}

bool RoundTimetable::AwaitsRoom(absl::Time now) const {
  return awaits_room_ && now >= last_end_ + kFirstRetryWithRoom;
}

absl::Status RoundTimetable::Ask(std::shared_ptr<Wish> wish) {
  if (is_ending_) return absl::UnavailableError("the agent is stopping");
  if (wishes_.size() >= kMostWishes) {
    return absl::AbortedError(fmt::format(
        "{} others have asked for rounds already; they run", kMostWishes));
  }
  wishes_.push_back(std::move(wish));
  look_again_ = absl::InfinitePast();
  return absl::OkStatus();
}

void RoundTimetable::Unwatch(Wish& wish) {
  wish.is_watched = false;
  DropUnwatchedIfPaused();
}

bool RoundTimetable::Stop(absl::Time now) {
  if (is_running_) return is_stopping_ = !is_ending_;
  See(now);
  not_before_ = std::max(not_before_, now + kAfterStop);
  EndWishes(absl::CancelledError("stopped between rounds"));
  return false;
}

bool RoundTimetable::Pause() {
  const bool was_paused = std::exchange(is_paused_, true);
  DropUnwatchedIfPaused();
  return !was_paused;
}

bool RoundTimetable::Resume() {
  not_before_ = absl::InfinitePast();  // Resume means now.
  return std::exchange(is_paused_, false);
}

void RoundTimetable::EndWishes(const absl::Status& status) {
  for (const std::shared_ptr<Wish>& wish : wishes_) {
    wish->is_done = true;
    wish->status = status;
  }
  wishes_.clear();
}

void RoundTimetable::DropDone() {
  std::erase_if(wishes_, [](const auto& wish) { return wish->is_done; });
}

void RoundTimetable::DropUnwatchedIfPaused() {
  if (!is_paused_) return;
  std::erase_if(wishes_, [](const auto& wish) { return !wish->is_watched; });
}

}  // namespace gannet::sites
