// HandOffPlan decides what HandOff does next: a state machine with neither DB
// nor clock nor threads. HandOff asks for the next action, does it, and says
// what came of it. The state is that action:
//
//   kBeginPass     ─► kSortOutboxes ─► kSweepDeferred ─► kBeginWalk
//   kBeginWalk     ─► kScan
//   kScan, kCut    ─► kCut           pages of others were found, and are left
//                  ─► kScan          none is left; more hosts to look at
//                  ─► kWaitForRound  all seen; some were another's, or the walk
//                                    began in a round of an older map
//                  ─► kTellComplete  all seen, and none was another's
//   kWaitForRound  ─► kBeginWalk     when the open round is over, if it has
//                                    some of them or goes by an older map
//   kTellComplete  ─► kNothing       all peers have acknowledged
//   kTellComplete, kNothing
//                  ─► kBeginPass     pages of others may have come since
//
// If no site takes a batch now, kCut stands for another action, and is tried
// again afterwards (NextIfNoneTakes()):
//
//   kScan          more hosts to look at
//   kBeginPass     pages of others may have come since
//   kTellComplete  no site has got all of its pages, and the walk did not begin
//                  in a round of an older map
//   kWaitForRound  the open round matters, as above
//   kBeginWalk     else: some site may have all
//
// For example, one page of Oslo's that round 7 has, which was open as the map
// came (so rounds up to 8 may go by the older one):
//
//   OnNewMap(7), OnPassBegun({7, open}), ...     kBeginWalk
//   OnWalkBegun({7, open})                       kScan
//   OnScanned({oslo}, at_end)                    kCut
//   OnCut(oslo, in_round = 1, no more)           kWaitForRound
//   round 7 is over                              kBeginWalk
//   OnWalkBegun, OnScanned, OnCut(oslo, 0)       kBeginWalk
//   OnWalkBegun, OnScanned({}, at_end)           kBeginPass: round 7 may have
//                                                found more while it was open
//   OnPassBegun({7}), ..., OnScanned({}, at_end) kTellComplete
//   OnComplete                                   kNothing
//   round 8 is over                              kBeginPass, as after round 7
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <set>

#include "storage/crawl_db/found_url.h"

namespace gannet::federation {

class HandOffPlan {
 public:
  enum class Action {
    kBeginPass,
    kSortOutboxes,
    kSweepDeferred,
    kBeginWalk,
    kScan,  // The next hosts.
    kCut,   // A batch of pages, to the first site that takes one.
    kWaitForRound,
    kTellComplete,  // Those for which no pages are left.
    kNothing
  };
  // What the round journal says.
  struct Round {
    uint64_t number = 0;  // The last one's.
    bool is_open = false;
  };
  struct Facts {
    Round round;
    uint64_t taken_back = 0;        // storage::Outgoing::pages_taken_back()
    bool has_stray_outbox = false;  // URLs wait for a site that is no peer.
    bool is_walk_due = false;       // One was asked for, and may begin.
  };

  Action Next(const Facts& facts) const;
  // Instead of kCut. Whoever takes nothing may be away for a week, and no other
  // site waits for it: another walk finds out whether the others have
  // everything.
  Action NextIfNoneTakes(const Facts& facts) const;

  // The map has changed, in this round or after it.
  void OnNewMap(uint64_t round);
  // `facts` from before anything was looked at.
  void OnPassBegun(const Facts& facts);
  void OnOutboxesSorted() { next_ = Action::kSweepDeferred; }
  void OnDeferredSwept() { next_ = Action::kBeginWalk; }
  void OnWalkBegun(const Round& round);
  // These sites own some of the hosts.
  void OnScanned(const std::set<storage::SiteId>& owners, bool at_end);
  // So many of the pages looked at are in the open round, and stay.
  void OnCut(storage::SiteId to, int64_t in_round, bool has_more);
  // All were told, and have acknowledged it.
  void OnComplete() { next_ = Action::kNothing; }

  // Since the pass began: what was sent to a life that is over.
  bool HavePagesComeBack(uint64_t taken_back) const {
    return taken_back != pass_.taken_back;
  }
  // Sites with pages that were found and are not cut yet.
  const std::set<storage::SiteId>& left() const { return left_; }
  bool is_done() const { return next_ == Action::kNothing; }

 private:
  bool NeedsAnotherPass(const Facts& facts) const;
  // No round that may go by an older map is open, or will be.
  bool AreOldRoundsOver(const Round& round) const;
  // The one that was open as the walk began, if one was.
  bool IsRoundOpenStill(const Round& round) const;
  void GoOnWalking();

  Action next_ = Action::kBeginPass;
  uint64_t last_old_round_ = 0;  // Later ones do not go by an older map.
  Facts pass_;                   // As this pass began.

  // This walk.
  uint64_t walk_round_ = 0;       // The last one as it began.
  bool is_in_old_round_ = false;  // It began in one.
  bool at_end_ = false;
  std::set<storage::SiteId> found_, left_;
  int64_t in_round_ = 0;
};

}  // namespace gannet::federation
