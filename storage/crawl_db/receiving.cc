// What other sites send: each batch is applied once, however often it comes,
// for its number is stored in the same write. That write is synced before the
// sender is told, so that what it forgets is not lost.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "storage/crawl_db/admission.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

// A peer that is broken cannot put a page or a host away for ever.
constexpr absl::Duration kLongestWait = absl::Hours(24 * 400);
constexpr absl::Duration kLongestRest = absl::Hours(24 * 30);
constexpr absl::Duration kLongestDelay = absl::Hours(24);
// RFC 9309, 2.4: a cached robots.txt is not used for more than 24 hours.
constexpr absl::Duration kLongestRobots = absl::Hours(24);

// What strangers say of a page is looked at before it is stored.
absl::Status CheckMoved(const Delivery& delivery) {
  std::set<std::string_view> moved;
  for (const proto::MovedPage& page : delivery.moved) {
    if (!IsPageKey(page.page()) || page.record().cash() < 0 ||
        !IsSound(page.record())) {
      return absl::InvalidArgumentError("a page that moves cannot be one");
    }
    moved.insert(page.page());
  }
  for (const Found& url : delivery.mine) {
    if (moved.contains(url.page.bytes)) {
      return absl::InvalidArgumentError(
          "a page is sent as found, and moves in the same batch");
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

// The archive stays where the page was fetched, so it is to be fetched in full
// (jobs/fetch asks conditionally only for what the archive has).
proto::MovedPage Arrived(const proto::MovedPage& moved, const Moment& moment) {
  proto::MovedPage page = moved;
  proto::PageRecord& record = *page.mutable_record();
  record.set_version(1);
  record.clear_archive();
  record.clear_etag();
  record.clear_last_modified();
  record.set_history(
      std::clamp<int64_t>(record.history(), 0, int64_t{1} << 62));
  record.set_ready_ms(
      std::min(record.ready_ms(), ToMillis(moment.now + kLongestWait)));
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

}  // namespace

absl::StatusOr<uint64_t> CrawlDb::completed_for(const Peer& from) {
  auto pair = received_pair(from);
  if (!pair.ok()) return pair.status();
  return pair->completed_for();
}

absl::StatusOr<proto::ReceivedPair> CrawlDb::received_pair(const Peer& from) {
  proto::ReceivedPair pair;
  absl::StatusOr<std::string> row = store_->Get(
      Column::kMeta, keys::ReceivedPair(from.site, from.incarnation));
  if (absl::IsNotFound(row.status())) return pair;
  if (!row.ok()) return row.status();
  if (!pair.ParseFromString(*row)) {
    return absl::DataLossError("the sequence numbers cannot be decoded");
  }
  return pair;
}

absl::StatusOr<Receipt> CrawlDb::Receive(Delivery delivery,
                                         const Moment& moment) {
  Edit edit;
  absl::Status cash;
  for (const Found& url : delivery.mine) {
    if (cash.ok()) cash = AddReceived(edit, url);
  }
  for (const auto& [site, url] : delivery.forwarded) {
    if (cash.ok()) cash = AddReceived(edit, url);
  }
  for (const proto::MovedPage& page : delivery.moved) {
    if (cash.ok()) cash = AddTakenOver(edit, page.record().cash());
  }
  for (const Settlement::Drop& drop : delivery.dropped_moved) {
    if (cash.ok()) cash = AddTakenOver(edit, drop.cash);
    edit.delta.dropped[drop.reason] += drop.cash;
    edit.delta.dropped_urls += drop.urls;
  }
  if (!cash.ok()) return cash;
  if (absl::Status s = CheckMoved(delivery); !s.ok()) return s;
  for (const Settlement::Drop& drop : delivery.dropped) {
    edit.delta.received += drop.cash;
    edit.delta.dropped[drop.reason] += drop.cash;
    edit.delta.dropped_urls += drop.urls;
  }
  const std::vector<Found> mine = SortedAndMerged(std::move(delivery.mine));
  // The number of one batch must be seen by the next.
  MutexLock one_at_a_time(&receive_mu_);
  std::vector<std::string_view> pages = PagesOf(mine);
  for (const auto& [site, url] : delivery.forwarded) {
    pages.push_back(url.page.bytes);
  }
  for (const proto::MovedPage& page : delivery.moved) {
    pages.push_back(page.page());
  }
  for (const HostUpdate& update : delivery.hosts) {
    pages.push_back(update.host.bytes);
  }
  StripeLocks locks(*store_, pages);
  const auto self = identity();
  if (!self.ok()) return self.status();
  if (delivery.to_incarnation != 0 &&
      delivery.to_incarnation != self->incarnation()) {
    return absl::FailedPreconditionError(
        "this site has begun another life, and batches are numbered anew");
  }
  auto pair = received_pair(delivery.from);
  if (!pair.ok()) return pair.status();
  Receipt receipt;
  receipt.last = pair->last();
  if (delivery.sequence <= pair->last()) return receipt;  // It came before.
  if (delivery.sequence != pair->last() + 1) {
    return absl::OutOfRangeError(
        fmt::format("batch {} came, and {} is the next to be taken",
                    delivery.sequence, pair->last() + 1));
  }
  const int64_t brought = Sum(edit.delta.received, edit.delta.taken_over);
  if (absl::Status s = CheckRoomFor(brought); !s.ok()) return s;
  if (delivery.cash_so_far != Sum(pair->cash(), brought)) {
    return absl::InvalidArgumentError(fmt::format(
        "batch {} brings {} units of cash, and the sender says {}",
        delivery.sequence, brought, Sum(delivery.cash_so_far, -pair->cash())));
  }
  Settlement limits;
  limits.most_host_pages = delivery.most_host_pages;
  Admission admission = Admission::OfDeferred(*this, limits);
  auto counts = AddFound(edit, mine, moment, &admission, delivery.known_gain);
  if (!counts.ok()) return counts.status();
  counts->dropped = admission.dropped();
  if (absl::Status s = AddWaiting(edit, {}, delivery.forwarded); !s.ok()) {
    return s;
  }
  std::vector<proto::MovedPage> moved;
  for (const proto::MovedPage& page : delivery.moved) {
    moved.push_back(Arrived(page, moment));
  }
  auto added = AddMoved(edit, std::move(moved), moment);
  if (!added.ok()) return added.status();
  for (const HostUpdate& update : delivery.hosts) {
    absl::Status s = AddMovedHost(edit, Arrived(update, moment));
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
  if (absl::Status s = store_->Commit(edit, /*sync=*/true); !s.ok()) return s;
  receipt.last = delivery.sequence;
  receipt.is_new = true;
  receipt.counts = *counts;
  receipt.moved = *added;
  return receipt;
}

}  // namespace gannet::storage
