// Mover hands over what this site has of others: one thread that steps the
// hand-off, again and again, by the map of the moment, and that tells it when
// something came that is another site's. Used by one thread, beside its own.
#pragma once

#include <thread>

#include "federation/exchange/batch_receiver.h"
#include "federation/handoff/hand_off.h"
#include "federation/member/own_site.h"
#include "storage/mutex.h"

namespace gannet::federation {

class Mover {
 public:
  // How often it looks whether there is something to move.
  static constexpr absl::Duration kEvery = absl::Milliseconds(200);

  // Begins. All must outlive it.
  Mover(const OwnSite& own, HandOff& hand_off, const BatchReceiver& receiver)
      : own_(own),
        hand_off_(hand_off),
        receiver_(receiver),
        thread_([this] { Move(); }) {}
  // Returns when the step under way has ended.
  ~Mover();

 private:
  void Move() ABSL_LOCKS_EXCLUDED(mu_);

  const OwnSite own_;
  HandOff& hand_off_;
  const BatchReceiver& receiver_;
  storage::Mutex mu_;
  storage::Condition changed_;
  bool is_ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace gannet::federation
