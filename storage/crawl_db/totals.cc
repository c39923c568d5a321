#include "storage/crawl_db/totals.h"

namespace gannet::storage {
namespace {

// The single numbers, in one list, so that no sum can forget one.
constexpr int64_t Totals::*kNumbers[] = {
    &Totals::injected,     &Totals::pages,          &Totals::root,
    &Totals::round,        &Totals::deferred,       &Totals::outbox,
    &Totals::acknowledged, &Totals::received,       &Totals::handed_over,
    &Totals::taken_over,   &Totals::frontier_pages, &Totals::scheduled_pages,
    &Totals::round_pages,  &Totals::finished_pages, &Totals::deferred_urls,
    &Totals::dropped_urls,
};

template <typename Map>
void AddMap(const Map& delta, Map& into) {
  for (const auto& [key, value] : delta) {
    // Zeros are left out, so that equal totals compare equal.
    if ((into[key] = Sum(into[key], value)) == 0) into.erase(key);
  }
}

}  // namespace

int64_t Totals::KnownPages() const {
  int64_t sum = 0;
  for (int64_t count : pages_by_state) sum += count;
  return sum;
}

int64_t Totals::Dropped() const {
  int64_t sum = 0;
  for (const auto& [reason, cash] : dropped) sum = Sum(sum, cash);
  return sum;
}

int64_t Totals::Held() const {
  return pages + root + round + deferred + outbox;
}

int64_t Totals::AllCash() const {
  const auto wrapped = [](int64_t value) {
    return static_cast<uint64_t>(value);
  };
  return static_cast<int64_t>(wrapped(Held()) + wrapped(acknowledged) -
                              wrapped(received) + wrapped(handed_over) -
                              wrapped(taken_over) + wrapped(Dropped()));
}

void Totals::Add(const Totals& delta) {
  for (int64_t Totals::*number : kNumbers) {
    this->*number = Sum(this->*number, delta.*number);
  }
  AddMap(delta.dropped, dropped);
  AddMap(delta.outbox_urls, outbox_urls);
  for (size_t s = 0; s < pages_by_state.size(); ++s) {
    pages_by_state[s] += delta.pages_by_state[s];
  }
}

proto::Totals Totals::ToProto() const {
  proto::Totals stored;
  stored.set_injected(injected);
  stored.set_pages(pages);
  stored.set_root(root);
  stored.set_round(round);
  stored.set_deferred(deferred);
  stored.set_outbox(outbox);
  stored.set_acknowledged(acknowledged);
  stored.set_received(received);
  stored.set_handed_over(handed_over);
  stored.set_taken_over(taken_over);
  stored.set_frontier_pages(frontier_pages);
  stored.set_scheduled_pages(scheduled_pages);
  stored.set_round_pages(round_pages);
  stored.set_finished_pages(finished_pages);
  stored.set_deferred_urls(deferred_urls);
  stored.set_dropped_urls(dropped_urls);
  for (const auto& [reason, cash] : dropped) {
    (*stored.mutable_dropped())[reason] = cash;
  }
  for (const auto& [site, urls] : outbox_urls) {
    (*stored.mutable_outbox_urls())[static_cast<uint32_t>(site)] = urls;
  }
  for (size_t s = 0; s < pages_by_state.size(); ++s) {
    if (pages_by_state[s] != 0) {
      (*stored.mutable_pages_by_state())[s] = pages_by_state[s];
    }
  }
  return stored;
}

Totals Totals::FromProto(const proto::Totals& stored) {
  Totals totals;
  totals.injected = stored.injected();
  totals.pages = stored.pages();
  totals.root = stored.root();
  totals.round = stored.round();
  totals.deferred = stored.deferred();
  totals.outbox = stored.outbox();
  totals.acknowledged = stored.acknowledged();
  totals.received = stored.received();
  totals.handed_over = stored.handed_over();
  totals.taken_over = stored.taken_over();
  totals.frontier_pages = stored.frontier_pages();
  totals.scheduled_pages = stored.scheduled_pages();
  totals.round_pages = stored.round_pages();
  totals.finished_pages = stored.finished_pages();
  totals.deferred_urls = stored.deferred_urls();
  totals.dropped_urls = stored.dropped_urls();
  for (const auto& [reason, cash] : stored.dropped()) {
    totals.dropped[reason] = cash;
  }
  for (const auto& [site, urls] : stored.outbox_urls()) {
    totals.outbox_urls[SiteId{site}] = urls;
  }
  for (const auto& [state, count] : stored.pages_by_state()) {
    if (state < totals.pages_by_state.size()) {
      totals.pages_by_state[state] = count;
    }
  }
  return totals;
}

}  // namespace gannet::storage
