#include "federation/member/quiet_watch.h"

namespace gannet::federation {
namespace {

bool SiteIsQuiet(const Map& map, const peers::Condition& condition) {
  return condition.is_idle() && condition.outbox_urls() == 0 &&
         condition.pages_to_hand_off() == 0 &&
         (!IsHandingOff(map) || condition.handed_off() >= PlacedStamp(map));
}

using PairKey = std::pair<uint32_t, uint32_t>;  // From, to.

// Batches under way between sites have been sent and not received.
bool NothingIsUnderWay(const Conditions& all) {
  std::map<PairKey, uint64_t> sent, received;
  for (const auto& [site, condition] : all) {
    for (const peers::PairCounts& pair : condition.pairs()) {
      sent[{site, pair.site()}] = pair.sent();
      received[{pair.site(), site}] = pair.received();
    }
  }
  return sent == received;
}

bool IsUnchanged(const peers::Condition& a, const peers::Condition& b) {
  if (a.pairs_size() != b.pairs_size() || a.pages() != b.pages()) return false;
  for (int i = 0; i < a.pairs_size(); ++i) {
    if (a.pairs(i).site() != b.pairs(i).site() ||
        a.pairs(i).sent() != b.pairs(i).sent() ||
        a.pairs(i).received() != b.pairs(i).received()) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool IsQuiet(const Map& map, const Conditions& first,
             const Conditions& second) {
  for (const proto::MapSite& site : map.sites()) {
    if (!IsActive(site)) continue;
    const auto then = first.find(site.id());
    const auto now = second.find(site.id());
    if (then == first.end() || now == second.end() ||
        !SiteIsQuiet(map, then->second) || !SiteIsQuiet(map, now->second) ||
        !IsUnchanged(then->second, now->second)) {
      return false;
    }
  }
  return NothingIsUnderWay(second);
}

void QuietWatch::Update(const std::shared_ptr<const MapView>& view,
                        const NeighbourSnapshots& neighbours) {
  Conditions conditions;
  for (const proto::MapSite* site : view->peers()) {
    const auto seen = neighbours.find(site->id());
    if (seen == neighbours.end()) return;
    if (!seen->second.is_alive || seen->second.epoch != view->map().epoch()) {
      return Set(nullptr);
    }
    // It has not answered since the last time: try again a little later.
    if (seen->second.condition_asked <= last_ended_) return;
    conditions[site->id()] = *seen->second.condition;
  }
  if (view->self() == nullptr) return;
  conditions[view->self()->id()] = own_();
  const bool is_quiet = federation::IsQuiet(view->map(), last_, conditions);
  last_ = std::move(conditions);
  last_ended_ = clock_.SteadyNow();
  Set(is_quiet ? view : nullptr);
}

void QuietWatch::Set(std::shared_ptr<const MapView> view) {
  storage::MutexLock lock(&mu_);
  quiet_view_ = std::move(view);
}

bool QuietWatch::IsQuiet(const std::shared_ptr<const MapView>& view) const {
  storage::MutexLock lock(&mu_);
  return view != nullptr && view == quiet_view_;
}

}  // namespace gannet::federation
