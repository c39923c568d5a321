#include "federation/member/condition.h"

#include <utility>

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

absl::StatusOr<peers::Condition> LookAtCondition(storage::CrawlDb& crawl_db,
                                                 const MapView& view,
                                                 absl::Time now) {
  const auto identity = crawl_db.records().identity();
  if (!identity.ok()) return identity.status();
  const auto next_due = crawl_db.frontier().NextDue();
  if (!next_due.ok()) return next_due.status();
  const storage::Totals totals = crawl_db.totals();
  peers::Condition condition;
  condition.set_pages(totals.KnownPages());
  condition.set_frontier(totals.frontier_pages);
  for (const auto& [site, urls] : totals.outbox_urls) {
    condition.set_outbox_urls(condition.outbox_urls() + urls);
  }
  condition.set_is_idle(
      crawl_db.round().journal().phase() == proto::NO_ROUND &&
      totals.frontier_pages == 0 && totals.deferred_urls == 0 &&
      (!next_due->has_value() || **next_due > now + kIdleWait));
  for (const proto::MapSite* peer : view.peers()) {
    const storage::SiteId site{peer->id()};
    const auto sent = crawl_db.outgoing().sent_pair(site);
    if (!sent.ok()) return sent.status();
    const auto received =
        crawl_db.incoming().received_pair({site, peer->incarnation()});
    if (!received.ok()) return received.status();
    peers::PairCounts& pair = *condition.add_pairs();
    pair.set_site(peer->id());
    if (sent->my_incarnation() == identity->incarnation() &&
        sent->their_incarnation() == peer->incarnation()) {
      pair.set_sent(sent->cut());
      pair.set_sent_cash(sent->cut_cash());
      pair.set_acknowledged(sent->acknowledged());
      pair.set_acknowledged_cash(sent->acknowledged_cash());
    }
    pair.set_received(received->last());
    pair.set_received_cash(received->cash());
  }
  return condition;
}

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

}  // namespace gannet::federation
