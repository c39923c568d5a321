#include "federation/handoff/hand_off_plan.h"

namespace gannet::federation {

bool HandOffPlan::AreOldRoundsOver(const Round& round) const {
  return round.number > last_old_round_ ||
         (round.number == last_old_round_ && !round.is_open);
}

bool HandOffPlan::IsRoundOpenStill(const Round& round) const {
  return round.is_open && round.number == walk_round_;
}

bool HandOffPlan::NeedsAnotherPass(const Facts& facts) const {
  if (facts.is_walk_due || facts.has_stray_outbox ||
      HavePagesComeBack(facts.taken_back)) {
    return true;
  }
  // An update by an older map may have found pages of others since.
  if (AreOldRoundsOver(pass_.round)) return false;
  return AreOldRoundsOver(facts.round) ||
         (pass_.round.is_open &&
          (facts.round.number != pass_.round.number || !facts.round.is_open));
}

HandOffPlan::Action HandOffPlan::Next(const Facts& facts) const {
  if (is_done() || next_ == Action::kTellComplete) {
    return NeedsAnotherPass(facts) ? Action::kBeginPass : next_;
  }
  if (next_ == Action::kWaitForRound) {
    const bool round_matters = in_round_ > 0 || found_.empty();
    return round_matters && IsRoundOpenStill(facts.round) ? next_
                                                          : Action::kBeginWalk;
  }
  return next_;
}

HandOffPlan::Action HandOffPlan::NextIfNoneTakes(const Facts& facts) const {
  if (!at_end_) return Action::kScan;  // Later hosts may belong to others.
  if (NeedsAnotherPass(facts)) return Action::kBeginPass;
  const bool some_are_through = found_.size() > left_.size();
  if (!some_are_through && !is_in_old_round_) return Action::kTellComplete;
  const bool round_matters = in_round_ > 0 || is_in_old_round_;
  return round_matters && IsRoundOpenStill(facts.round) ? Action::kWaitForRound
                                                        : Action::kBeginWalk;
}

void HandOffPlan::OnNewMap(uint64_t round) {
  next_ = Action::kBeginPass;
  last_old_round_ = round + 1;  // It may have taken its map a moment ago.
}

void HandOffPlan::OnPassBegun(const Facts& facts) {
  next_ = Action::kSortOutboxes;
  pass_ = facts;
}

void HandOffPlan::OnWalkBegun(const Round& round) {
  next_ = Action::kScan;
  walk_round_ = round.number;
  is_in_old_round_ = round.is_open && round.number < last_old_round_;
  at_end_ = false;
  found_.clear();
  left_.clear();
  in_round_ = 0;
}

void HandOffPlan::OnScanned(const std::set<storage::SiteId>& owners,
                            bool at_end) {
  at_end_ = at_end;
  found_.insert(owners.begin(), owners.end());
  left_.insert(owners.begin(), owners.end());
  GoOnWalking();
}

void HandOffPlan::OnCut(storage::SiteId to, int64_t in_round, bool has_more) {
  in_round_ += in_round;
  if (!has_more) left_.erase(to);
  GoOnWalking();
}

void HandOffPlan::GoOnWalking() {
  if (!left_.empty()) {
    next_ = Action::kCut;
  } else if (!at_end_) {
    next_ = Action::kScan;
  } else {
    next_ = found_.empty() && !is_in_old_round_ ? Action::kTellComplete
                                                : Action::kWaitForRound;
  }
}

}  // namespace gannet::federation
