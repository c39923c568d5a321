#include "storage/crawl_db/outgoing.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "storage/crawl_db/host_rows.h"
#include "storage/crawl_db/page_rows.h"
#include "storage/crawl_db/pair_rows.h"
#include "storage/crawl_db/store.h"
#include "storage/crawl_db/waiting_rows.h"

namespace gannet::storage {
namespace {

// Puts the site's gains into its outbox, all but the last few, in bounded
// writes.
absl::Status ReleaseManyGains(Store& store, SiteId of)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.pairs()) {
  constexpr size_t kAtOnce = 1000;
  for (;;) {
    Edit edit;
    auto gains = TakeGains(store, edit, of, kAtOnce);
    if (!gains.ok()) return gains.status();
    if (gains->size() < kAtOnce) return absl::OkStatus();
    if (absl::Status s = AddOutbox(store, edit, *gains); !s.ok()) return s;
    if (absl::Status s = store.Commit(edit); !s.ok()) return s;
  }
}

// Puts what was being sent to the site back to where it was before it was cut.
// Returns how many pages are back. The gains of the site go into its outbox:
// its next incarnation may not know those URLs.
absl::StatusOr<int64_t> TakeBack(Store& store, Edit& edit, SiteId site)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes(), store.pairs()) {
  auto cuts = GetSending(store, site);
  if (!cuts.ok()) return cuts.status();
  auto waiting =
      TakeGains(store, edit, site, std::numeric_limits<size_t>::max());
  if (!waiting.ok()) return waiting.status();
  std::vector<proto::MovedPage> pages;
  std::map<std::string, HostUpdate> hosts;  // The newest record of each.
  for (OutboxCut& cut : *cuts) {
    edit.Delete(Column::kOutbox, keys::Sending(site, cut.sequence));
    edit.delta.outbox -= cut.batch.cash();
    edit.delta.outbox_urls[site] -=
        cut.batch.urls_size() + cut.batch.pages_size();
    for (const proto::FoundUrl& url : cut.batch.urls()) {
      waiting->emplace_back(site, FoundUrl{PageKey{url.page()}, url.cash(),
                                           url.depth(), url.redirects()});
    }
    for (proto::MovedPage& page : *cut.batch.mutable_pages()) {
      pages.push_back(std::move(page));
    }
    for (const proto::MovedHost& host : cut.batch.hosts()) {
      hosts[host.host()] = {HostKey{host.host()}, host.record()};
    }
  }
  if (absl::Status s = AddOutbox(store, edit, *waiting); !s.ok()) return s;
  auto added = AddMoved(store, edit, std::move(pages), {});
  if (!added.ok()) return added.status();
  for (const auto& [key, update] : hosts) {
    if (absl::Status s = AddMovedHost(store, edit, update); !s.ok()) return s;
  }
  return added;
}

// Whether batches are numbered for these lives already.
absl::StatusOr<bool> IsOpen(Store& store, SiteId to,
                            const proto::SentPair& fresh)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.pairs()) {
  auto known = GetSentPair(store, to);
  if (!known.ok()) return known.status();
  return known->my_incarnation() == fresh.my_incarnation() &&
         known->their_incarnation() == fresh.their_incarnation();
}

}  // namespace

absl::StatusOr<proto::SentPair> Outgoing::sent_pair(SiteId to) {
  return GetSentPair(store_, to);
}

absl::Status Outgoing::BeginLife(SiteId to,
                                 const std::optional<proto::SentPair>& fresh) {
  StripeLocks locks(store_.stripes());
  PairLocks pair(store_.pairs(), {to});
  if (fresh.has_value()) {
    auto is_open = IsOpen(store_, to, *fresh);
    if (!is_open.ok()) return is_open.status();
    if (*is_open) return absl::OkStatus();
  }
  if (absl::Status s = ReleaseManyGains(store_, to); !s.ok()) return s;
  Edit edit;
  auto taken_back = TakeBack(store_, edit, to);
  if (!taken_back.ok()) return taken_back.status();
  if (fresh.has_value()) {
    edit.PutMessage(Column::kMeta, keys::SentPair(to), *fresh);
  } else {
    edit.Delete(Column::kMeta, keys::SentPair(to));
  }
  if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  // After the commit: who sees the new number sees the pages too.
  pages_taken_back_ += static_cast<uint64_t>(*taken_back);
  return absl::OkStatus();
}

absl::Status Outgoing::OpenPair(const Peer& to) {
  const auto identity = GetIdentity(store_);
  if (!identity.ok()) return identity.status();
  proto::SentPair fresh;
  fresh.set_my_incarnation(identity->incarnation());
  fresh.set_their_incarnation(to.incarnation);
  {
    // Mostly it is: then nobody need wait for all stripes.
    PairLocks pair(store_.pairs(), {to.site});
    auto is_open = IsOpen(store_, to.site, fresh);
    if (!is_open.ok()) return is_open.status();
    if (*is_open) return absl::OkStatus();
  }
  if (absl::Status s = BeginLife(to.site, fresh); !s.ok()) return s;
  return store_.Sync();
}

absl::Status Outgoing::ClosePair(SiteId to) {
  if (absl::Status s = BeginLife(to, std::nullopt); !s.ok()) return s;
  return store_.Sync();
}

absl::StatusOr<std::vector<SiteId>> Outgoing::Destinations() {
  std::set<SiteId> sites;
  for (const auto& [site, urls] : store_.totals().outbox_urls)
    sites.insert(site);
  const std::string prefix = keys::SentPrefix();
  const auto it = store_.Scan(Column::kMeta, prefix);
  for (it->Seek(prefix); it->Valid(); it->Next()) {
    const std::string id(it->key().substr(prefix.size()));
    sites.insert(SiteId{static_cast<uint32_t>(std::stoul(id))});
  }
  if (!it->status().ok()) return it->status();
  return std::vector<SiteId>(sites.begin(), sites.end());
}

absl::StatusOr<OutboxCut> Outgoing::CutOutbox(const Peer& to, size_t most,
                                              size_t most_bytes,
                                              std::string* cursor) {
  OutboxCut cut;
  {
    PairLocks locks(store_.pairs(), {to.site});
    auto pair = GetOpenedPair(store_, to);
    if (!pair.ok()) return pair.status();
    Edit edit;
    const std::string prefix = keys::Outbox(to.site, {});
    const auto it = store_.Scan(Column::kOutbox, prefix);
    if (cursor != nullptr && cursor->starts_with(prefix)) {
      it->Seek(*cursor);
    } else {
      it->Seek(prefix);
    }
    if (!it->Valid() && it->status().ok()) it->Seek(prefix);
    size_t bytes = 0;
    std::string last;
    for (; it->Valid() && static_cast<size_t>(cut.batch.urls_size()) < most;
         it->Next()) {
      bytes += it->key().size() - prefix.size();
      if (bytes > most_bytes && cut.batch.urls_size() > 0) break;
      proto::FoundUrl* url = cut.batch.add_urls();
      if (!url->ParseFromArray(it->value().data(), it->value().size())) {
        return absl::DataLossError("a URL of the outbox cannot be decoded");
      }
      const std::string_view page = it->key().substr(prefix.size());
      url->set_page(page.data(), page.size());
      cut.batch.set_cash(cut.batch.cash() + url->cash());
      last = it->key();
    }
    if (!it->status().ok()) return it->status();
    if (cut.batch.urls_size() == 0) {
      return absl::NotFoundError("the outbox is empty");
    }
    // They stand together and leave as one range: row by row, each cut would
    // step over the tombstones of all before it.
    last.push_back('\0');
    edit.batch.DeleteRange(
        Column::kOutbox, keys::Outbox(to.site, cut.batch.urls(0).page()), last);
    if (cursor != nullptr) *cursor = last;
    AddCut(store_, edit, to.site, *pair, cut);
    if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  }
  if (absl::Status s = store_.Sync(); !s.ok()) return s;
  return cut;
}

absl::StatusOr<std::vector<OutboxCut>> Outgoing::Sending(SiteId destination,
                                                         uint64_t after,
                                                         size_t most) {
  auto cuts = GetSending(store_, destination, after, most);
  if (!cuts.ok() || cuts->empty()) return cuts;
  // An earlier process may have cut them, and not lived to sync.
  if (absl::Status s = store_.Sync(); !s.ok()) return s;
  return cuts;
}

absl::Status Outgoing::Acknowledge(const Peer& by, uint64_t last) {
  PairLocks locks(store_.pairs(), {by.site});
  auto pair = GetOpenedPair(store_, by);
  if (!pair.ok()) return pair.status();
  if (last > pair->cut()) {
    return absl::InvalidArgumentError(fmt::format(
        "batch {} was acknowledged, but the last that was sent is {}", last,
        pair->cut()));
  }
  if (last < pair->acknowledged()) {
    return absl::DataLossError(fmt::format(
        "that site had batch {}, and now says that its last is {}: it is an "
        "old copy that was not restored with 'gannet restore'",
        pair->acknowledged(), last));
  }
  Edit edit;
  for (uint64_t sequence = pair->acknowledged() + 1; sequence <= last;
       ++sequence) {
    const std::string key = keys::Sending(by.site, sequence);
    absl::StatusOr<std::string> row = store_.Get(Column::kOutbox, key);
    if (!row.ok()) return row.status();
    auto batch = ParseBatch(*row);
    if (!batch.ok()) return batch.status();
    edit.Delete(Column::kOutbox, key);
    int64_t moved = 0;
    for (const auto& page : batch->pages()) moved += page.record().cash();
    edit.delta.outbox -= batch->cash();
    edit.delta.acknowledged += batch->cash() - moved;
    edit.delta.handed_over += moved;
    edit.delta.outbox_urls[by.site] -= batch->urls_size() + batch->pages_size();
    pair->set_acknowledged(sequence);
    pair->set_acknowledged_cash(batch->cash_so_far());
  }
  edit.PutMessage(Column::kMeta, keys::SentPair(by.site), *pair);
  return store_.Commit(edit);
}

}  // namespace gannet::storage
