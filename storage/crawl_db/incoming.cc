#include "storage/crawl_db/incoming.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "storage/crawl_db/admission.h"
#include "storage/crawl_db/host_rows.h"
#include "storage/crawl_db/page_rows.h"
#include "storage/crawl_db/pair_rows.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"
#include "storage/crawl_db/waiting_rows.h"

namespace gannet::storage {
namespace {

// The most that a site may hold: far more than its seeds bring, and with it
// every sum of what is held fits.
constexpr int64_t kMostCash = int64_t{1} << 62;

// Times from a faulty peer are cut, so that it cannot put off a page or a host
// for ever.
constexpr absl::Duration kLongestWait = absl::Hours(24 * 400);
constexpr absl::Duration kLongestRest = absl::Hours(24 * 30);
constexpr absl::Duration kLongestDelay = absl::Hours(24);
// RFC 9309, 2.4: a cached robots.txt is not used for more than 24 hours.
constexpr absl::Duration kLongestRobots = absl::Hours(24);

// What other sites send is checked before it is stored.
absl::Status CheckMoved(const Delivery& delivery) {
  std::set<std::string_view> moved;
  for (const proto::MovedPage& page : delivery.moved) {
    if (!IsPageKey(page.page()) || page.record().cash() < 0 ||
        !IsSound(page.record())) {
      return absl::InvalidArgumentError(
          "moved page has an invalid key, cash or record");
    }
    moved.insert(page.page());
  }
  for (const FoundUrl& url : delivery.mine) {
    if (moved.contains(url.page.bytes)) {
      return absl::InvalidArgumentError(
          "one batch has a page both as a found URL and as a moved page");
    }
  }
  std::set<std::string_view> hosts;
  for (const HostUpdate& update : delivery.hosts) {
    if (!IsHostKey(update.host.bytes) ||
        !hosts.insert(update.host.bytes).second) {
      return absl::InvalidArgumentError(
          "a host has no key, or is named twice in one batch");
    }
  }
  return absl::OkStatus();
}

// The archive stays where the page was fetched, so this site fetches the page
// in full (jobs/fetch asks conditionally only for what the archive has).
proto::MovedPage Arrived(const proto::MovedPage& moved, const Moment& moment) {
  proto::MovedPage page = moved;
  proto::PageRecord& record = *page.mutable_record();
  record.set_version(1);
  record.clear_archive();
  record.clear_etag();
  record.clear_last_modified();
  record.set_history(
      std::clamp<int64_t>(record.history(), 0, int64_t{1} << 62));
  const int64_t latest_ms = ToMillis(moment.now + kLongestWait);
  record.set_ready_ms(std::min(record.ready_ms(), latest_ms));
  if (record.has_before_block()) {  // Used when the block is undone.
    proto::BeforeBlock& before = *record.mutable_before_block();
    before.set_ready_ms(std::min(before.ready_ms(), latest_ms));
  }
  return page;
}

HostUpdate Arrived(const HostUpdate& moved, const Moment& moment) {
  HostUpdate host = moved;
  host.record.set_rest_until_ms(std::min(host.record.rest_until_ms(),
                                         ToMillis(moment.now + kLongestRest)));
  host.record.set_delay_ms(std::min(host.record.delay_ms(),
                                    absl::ToInt64Milliseconds(kLongestDelay)));
  for (proto::RobotsRules& rules : *host.record.mutable_robots()) {
    rules.set_expires_ms(
        std::min(rules.expires_ms(), ToMillis(moment.now + kLongestRobots)));
  }
  return host;
}

// Counts what others send; kInvalidArgument if it cannot be.
absl::Status AddReceived(Edit& edit, const FoundUrl& url) {
  if (url.cash < 0 || url.cash > kMostCash - edit.delta.received) {
    return absl::InvalidArgumentError("a found URL's cash is out of range");
  }
  if (!IsPageKey(url.page.bytes)) {
    return absl::InvalidArgumentError("a found URL has no page key");
  }
  edit.delta.received += url.cash;
  return absl::OkStatus();
}

absl::Status AddTakenOver(Edit& edit, int64_t cash) {
  if (cash < 0 || cash > kMostCash - edit.delta.taken_over) {
    return absl::InvalidArgumentError("a page's cash is out of range");
  }
  edit.delta.taken_over += cash;
  return absl::OkStatus();
}

absl::Status CheckRoomFor(Store& store, int64_t received) {
  if (received >= 0 && store.totals().Held() <= kMostCash - received) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "the batch would raise the cash of this site above the maximum");
}

}  // namespace

absl::StatusOr<PutCounts> Incoming::Inject(absl::Span<const PageKey> seeds,
                                           absl::Time now) {
  std::vector<PageKey> distinct(seeds.begin(), seeds.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const PageKey& seed : distinct) {
    if (!IsPageKey(seed.bytes)) {
      return absl::InvalidArgumentError("a seed has no page key");
    }
  }

  const std::vector<std::string_view> pages = PagesOf(distinct);
  PutCounts counts;
  {
    StripeLocks locks(store_.stripes(), pages);
    auto records = store_.GetPages(pages);
    if (!records.ok()) return records.status();
    Edit edit;
    counts.known = static_cast<int64_t>(seeds.size() - distinct.size());
    for (size_t i = 0; i < distinct.size(); ++i) {
      if ((*records)[i].has_value()) {
        ++counts.known;
        continue;
      }
      if (store_.IsBlocked(distinct[i].bytes)) {
        ++counts.blocked;
        continue;
      }
      ++counts.added;
      AddPage(store_, edit, FoundUrl{distinct[i], kSeedCash}, now);
      edit.delta.injected += kSeedCash;
    }
    if (store_.totals().Held() > kMostCash - edit.delta.injected) {
      return absl::OutOfRangeError(
          fmt::format("too many seeds: at most {} fit a site's ledger",
                      kMostCash / kSeedCash));
    }
    if (absl::Status status = store_.Commit(edit); !status.ok()) {
      return status;
    }
  }
  if (absl::Status s = store_.Sync(); !s.ok()) return s;
  return counts;
}

absl::StatusOr<PutCounts> Incoming::PutIfAbsent(absl::Span<const FoundUrl> urls,
                                                const Moment& moment) {
  Edit edit;
  for (const FoundUrl& url : urls) {
    if (absl::Status s = AddReceived(edit, url); !s.ok()) return s;
  }
  if (absl::Status s = CheckRoomFor(store_, edit.delta.received); !s.ok())
    return s;
  const std::vector<FoundUrl> merged =
      SortedAndMerged({urls.begin(), urls.end()});
  StripeLocks locks(store_.stripes(), PagesOf(merged));
  absl::StatusOr<PutCounts> counts = AddFound(store_, edit, merged, moment);
  if (!counts.ok()) return counts;
  if (absl::Status status = store_.Commit(edit); !status.ok()) {
    return status;
  }
  return counts;
}

absl::StatusOr<uint64_t> Incoming::completed_for(const Peer& from) {
  auto pair = received_pair(from);
  if (!pair.ok()) return pair.status();
  return pair->completed_for();
}

absl::StatusOr<proto::ReceivedPair> Incoming::received_pair(const Peer& from) {
  return GetReceivedPair(store_, from);
}

absl::StatusOr<proto::ReceivedPair> Incoming::PromisedPair(const Peer& from) {
  auto pair = GetReceivedPair(store_, from);
  if (!pair.ok()) return pair;
  if (absl::Status s = store_.Sync(); !s.ok()) return s;
  return pair;
}

absl::StatusOr<Receipt> Incoming::Receive(Delivery delivery,
                                          const Moment& moment) {
  auto receipt = Apply(std::move(delivery), moment);
  if (!receipt.ok()) return receipt;
  // Also for a batch that came before: the thread that took it may still be
  // syncing.
  if (absl::Status s = store_.Sync(); !s.ok()) return s;
  return receipt;
}

absl::StatusOr<Receipt> Incoming::Apply(Delivery delivery,
                                        const Moment& moment) {
  Edit edit;
  absl::Status cash;
  for (const FoundUrl& url : delivery.mine) {
    if (cash.ok()) cash = AddReceived(edit, url);
  }
  for (const auto& [site, url] : delivery.forwarded) {
    if (cash.ok()) cash = AddReceived(edit, url);
  }
  for (const proto::MovedPage& page : delivery.moved) {
    if (cash.ok()) cash = AddTakenOver(edit, page.record().cash());
  }
  for (const Drop& drop : delivery.dropped_moved) {
    if (cash.ok()) cash = AddTakenOver(edit, drop.cash);
    edit.delta.dropped[drop.reason] += drop.cash;
    edit.delta.dropped_urls += drop.urls;
  }
  if (!cash.ok()) return cash;
  if (absl::Status s = CheckMoved(delivery); !s.ok()) return s;
  for (const Drop& drop : delivery.dropped) {
    edit.delta.received += drop.cash;
    edit.delta.dropped[drop.reason] += drop.cash;
    edit.delta.dropped_urls += drop.urls;
  }
  const std::vector<FoundUrl> mine = SortedAndMerged(std::move(delivery.mine));
  // The number of one batch must be seen by the next.
  MutexLock one_at_a_time(&receive_mu_);
  std::vector<std::string_view> pages = PagesOf(mine);
  std::set<SiteId> sites;
  for (const auto& [site, url] : delivery.forwarded) sites.insert(site);
  for (const proto::MovedPage& page : delivery.moved) {
    pages.push_back(page.page());
  }
  for (const HostUpdate& update : delivery.hosts) {
    pages.push_back(update.host.bytes);
  }
  StripeLocks locks(store_.stripes(), pages);
  PairLocks pairs(store_.pairs(), std::move(sites));
  const auto self = GetIdentity(store_);
  if (!self.ok()) return self.status();
  if (delivery.to_incarnation != 0 &&
      delivery.to_incarnation != self->incarnation()) {
    return absl::FailedPreconditionError(
        "this site has begun another life, and batches are numbered anew");
  }
  auto pair = GetReceivedPair(store_, delivery.from);
  if (!pair.ok()) return pair.status();
  Receipt receipt;
  receipt.last = pair->last();
  if (delivery.sequence <= pair->last()) return receipt;  // It came before.
  if (delivery.sequence != pair->last() + 1) {
    return absl::OutOfRangeError(
        fmt::format("received batch {}, expected batch {}", delivery.sequence,
                    pair->last() + 1));
  }
  const int64_t brought = Sum(edit.delta.received, edit.delta.taken_over);
  if (absl::Status s = CheckRoomFor(store_, brought); !s.ok()) return s;
  if (delivery.cash_so_far != Sum(pair->cash(), brought)) {
    return absl::InvalidArgumentError(fmt::format(
        "batch {} has {} units of cash, but the sender says {}",
        delivery.sequence, brought, Sum(delivery.cash_so_far, -pair->cash())));
  }
  AdmissionLimits limits;
  limits.most_host_pages = delivery.most_host_pages;
  Admission admission = Admission::OfDeferred(store_, limits);
  auto counts =
      AddFound(store_, edit, mine, moment, &admission, delivery.known_gain);
  if (!counts.ok()) return counts.status();
  counts->dropped = admission.dropped();
  if (absl::Status s = AddOutbox(store_, edit, delivery.forwarded); !s.ok()) {
    return s;
  }
  std::vector<proto::MovedPage> moved;
  for (const proto::MovedPage& page : delivery.moved) {
    moved.push_back(Arrived(page, moment));
  }
  auto added = AddMoved(store_, edit, std::move(moved), moment);
  if (!added.ok()) return added.status();
  for (const HostUpdate& update : delivery.hosts) {
    absl::Status s = AddMovedHost(store_, edit, Arrived(update, moment));
    if (!s.ok()) return s;
  }
  if (delivery.complete_for != 0) {
    pair->set_completed_for(
        std::max<uint64_t>(pair->completed_for(), delivery.complete_for));
  }
  pair->set_pages(pair->pages() + *added);
  pair->set_last(delivery.sequence);
  pair->set_cash(delivery.cash_so_far);
  pair->set_urls(pair->urls() +
                 static_cast<int64_t>(mine.size() + delivery.forwarded.size()));
  edit.PutMessage(
      Column::kMeta,
      keys::ReceivedPair(delivery.from.site, delivery.from.incarnation), *pair);
  if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  receipt.last = delivery.sequence;
  receipt.is_new = true;
  receipt.counts = *counts;
  receipt.moved = *added;
  return receipt;
}

absl::Status Incoming::Reincarnate() {
  {
    // A batch received in between would store its number of the old
    // incarnation in the new one.
    MutexLock nothing_is_received(&receive_mu_);
    absl::StatusOr<proto::SiteIdentity> identity = GetIdentity(store_);
    if (!identity.ok()) return identity.status();
    std::random_device random;
    identity->set_incarnation(uint64_t{random()} << 32 | random());
    Edit edit;
    edit.PutMessage(Column::kMeta, keys::kIdentity, *identity);
    // Peers number the batches for this incarnation from 1 (outgoing.h).
    const std::string prefix = keys::ReceivedPrefix();
    const auto it = store_.Scan(Column::kMeta, prefix);
    for (it->Seek(prefix); it->Valid(); it->Next()) {
      edit.Delete(Column::kMeta, it->key());
    }
    if (!it->status().ok()) return it->status();
    if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  }
  return store_.Sync();
}

}  // namespace gannet::storage
