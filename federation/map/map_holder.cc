#include "federation/map/map_holder.h"

#include <fmt/format.h>

#include <utility>

namespace gannet::federation {

MapHolder::MapHolder(std::string self, Keep keep, storage::Clock& clock)
    : self_(std::move(self)), keep_(std::move(keep)), clock_(clock) {}

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
    const std::shared_ptr<const MapView>& known, absl::Duration at_most,
    const std::atomic<bool>& stop) const {
  const absl::Time give_up = clock_.SteadyNow() + at_most;
  storage::MutexLock lock(&mu_);
  while (view_ == known && !stop && clock_.SteadyNow() < give_up) {
    clock_.WaitUntil(changed_, &mu_, give_up);
  }
  return view_;
}

void MapHolder::Wake() const {
  storage::MutexLock lock(&mu_);
  changed_.SignalAll();
}

}  // namespace gannet::federation
