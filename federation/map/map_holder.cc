#include "federation/map/map_holder.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace gannet::federation {

MapHolder::MapHolder(std::string self, Keep keep)
    : self_(std::move(self)), keep_(std::move(keep)) {}

absl::Status MapHolder::Load(const std::string& bytes) {
  Map map;
  if (!map.ParseFromString(bytes)) {
    return absl::DataLossError("the map of the federation cannot be decoded");
  }
  auto view = MapView::Create(std::move(map), self_);
  if (!view.ok()) {
    return absl::DataLossError(
        fmt::format("the map of the federation is damaged: {}",
                    std::string(view.status().message())));
  }
  storage::MutexLock lock(&mu_);
  view_ = *std::move(view);
  return absl::OkStatus();
}

std::shared_ptr<const MapView> MapHolder::view() const {
  storage::MutexLock lock(&mu_);
  return view_;
}

absl::Status MapHolder::Offer(const Map& map) {
  storage::MutexLock one_at_a_time(&offer_mu_);
  if (const auto now = view(); now != nullptr) {
    if (Contradicts(now->map(), map)) {
      return absl::FailedPreconditionError(
          now->map().federation() != map.federation()
              ? "this is the map of another federation"
              : fmt::format("the map of epoch {} differs from the one of that "
                            "epoch that this site has",
                            map.epoch()));
    }
    if (!IsNewer(map, now->map())) return absl::OkStatus();
  }
  auto next = MapView::Create(map, self_);
  if (!next.ok()) return next.status();
  if (absl::Status s = keep_(map); !s.ok()) return s;
  storage::MutexLock lock(&mu_);
  view_ = *std::move(next);
  changed_.SignalAll();
  return absl::OkStatus();
}

std::shared_ptr<const MapView> MapHolder::Await(
    const std::shared_ptr<const MapView>& known, absl::Duration at_most) const {
  using Clock = std::chrono::steady_clock;
  const auto give_up = Clock::now() + absl::ToChronoMilliseconds(at_most);
  storage::MutexLock lock(&mu_);
  while (view_ == known) {
    const absl::Duration left = absl::FromChrono(give_up - Clock::now());
    if (left <= absl::ZeroDuration()) break;
    changed_.WaitFor(&mu_, left);
  }
  return view_;
}

}  // namespace gannet::federation
