// OwnAnswers is what this site says of itself when it is asked, by another site
// or by its own administrator: how it is doing (with each beat), what a change
// of the map would move away from here (`federation plan`), and whether its
// invariants hold (`federation verify`). Questions asks all sites the same. All
// read the crawl DB, the last two all of it. Thread-safe.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "federation/handoff/hand_off.h"
#include "federation/member/losses.h"
#include "federation/member/own_site.h"
#include "proto/peers.pb.h"

namespace gannet::federation {

// What only the agent knows of its site.
struct AgentAnswers {
  std::function<double()> pages_per_second = nullptr;  // Null: not known.
  // Checks this site's invariants.
  std::function<absl::StatusOr<std::vector<storage::Check>>(bool full)> verify;
};

class OwnAnswers {
 public:
  // All must outlive this.
  OwnAnswers(const OwnSite& own, const HandOff& hand_off, const Losses& losses,
             AgentAnswers agent)
      : own_(own),
        hand_off_(hand_off),
        losses_(losses),
        agent_(std::move(agent)) {}

  // Empty, and so not idle, if it is in no federation or cannot be read.
  peers::Condition OwnCondition() const;
  absl::StatusOr<peers::MoveCounts> CountMoves(const Map& next) const;
  absl::StatusOr<peers::VerifyReply> Verify(bool full) const;

 private:
  absl::StatusOr<storage::Check> CheckOwnership() const;
  absl::StatusOr<storage::Check> LookAtOwnership() const;

  const OwnSite own_;
  const HandOff& hand_off_;
  const Losses& losses_;
  const AgentAnswers agent_;
};

}  // namespace gannet::federation
