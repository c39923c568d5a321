#include "federation/member/mover.h"

#include <memory>
#include <optional>
#include <string>

namespace gannet::federation {

Mover::~Mover() {
  {
    storage::MutexLock lock(&mu_);
    is_ending_ = true;
    changed_.SignalAll();
  }
  thread_.join();
}

void Mover::Move() {
  std::string error;
  uint64_t foreign = 0;
  for (;;) {
    const std::shared_ptr<const MapView> view = own_.maps.view();
    bool is_busy = false;
    if (view != nullptr) {
      // What came and is another's moves on.
      if (const uint64_t now = receiver_.counts().foreign; now != foreign) {
        foreign = now;
        hand_off_.WalkAgain();
      }
      const absl::StatusOr<bool> done = hand_off_.Step(
          *view, [&](storage::SiteId site) -> std::optional<storage::Peer> {
            const proto::MapSite* peer =
                FindSite(view->map(), static_cast<uint32_t>(site));
            if (peer == nullptr || !IsActive(*peer)) return std::nullopt;
            return storage::Peer{site, peer->incarnation()};
          });
      is_busy = done.ok() && !*done && !hand_off_.progress().is_waiting;
      const std::string now =
          done.ok() ? "" : std::string(done.status().message());
      if (now != error && !now.empty()) {
        own_.note("hand_off_error", {{"error", now}});
      }
      error = now;
    }
    storage::MutexLock lock(&mu_);
    if (is_ending_) return;
    if (!is_busy) own_.clock.WaitFor(changed_, &mu_, kEvery);
    if (is_ending_) return;
  }
}

}  // namespace gannet::federation
