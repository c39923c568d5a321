// How an outbox empties: it is cut into batches, numbered without gaps for each
// pair of lives (of this site, and of the one that gets them), and a batch is
// kept until the other site has said that it has it. So a batch may be sent
// twice, and is never lost; the receiver takes each number once (receiving.cc).
//
// A new life of either site begins at number 1, and what the old one was
// sending goes back to the outbox (and pages that moved back to `pages`):
// whether the other life got it does not matter to the new one.
#include <fmt/format.h>

#include <set>

#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

absl::StatusOr<proto::OutboxBatch> ParseBatch(std::string_view value) {
  proto::OutboxBatch batch;
  if (!batch.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return absl::DataLossError("a batch being sent cannot be decoded");
  }
  return batch;
}

std::string SendingPrefix(SiteId destination) {
  const std::string first = keys::Sending(destination, 0);
  return first.substr(0, first.size() - 8);
}

}  // namespace

absl::StatusOr<proto::SentPair> CrawlDb::sent_pair(SiteId to) {
  proto::SentPair pair;
  absl::StatusOr<std::string> row =
      store_->Get(Column::kMeta, keys::SentPair(to));
  if (absl::IsNotFound(row.status())) return pair;
  if (!row.ok()) return row.status();
  if (!pair.ParseFromString(*row)) {
    return absl::DataLossError("the sequence numbers cannot be decoded");
  }
  return pair;
}

absl::Status CrawlDb::OpenPair(const Peer& to) {
  const auto identity = this->identity();
  if (!identity.ok()) return identity.status();
  StripeLocks locks(*store_);
  auto pair = sent_pair(to.site);
  if (!pair.ok()) return pair.status();
  if (pair->my_incarnation() == identity->incarnation() &&
      pair->their_incarnation() == to.incarnation) {
    return absl::OkStatus();
  }
  if (absl::Status s = ReleaseManyGains(to.site); !s.ok()) return s;
  Edit edit;
  if (absl::Status s = TakeBack(edit, to.site); !s.ok()) return s;
  proto::SentPair fresh;
  fresh.set_my_incarnation(identity->incarnation());
  fresh.set_their_incarnation(to.incarnation);
  edit.PutMessage(Column::kMeta, keys::SentPair(to.site), fresh);
  return store_->Commit(edit, /*sync=*/true);
}

absl::Status CrawlDb::ClosePair(SiteId to) {
  StripeLocks locks(*store_);
  if (absl::Status s = ReleaseManyGains(to); !s.ok()) return s;
  Edit edit;
  if (absl::Status s = TakeBack(edit, to); !s.ok()) return s;
  edit.Delete(Column::kMeta, keys::SentPair(to));
  return store_->Commit(edit, /*sync=*/true);
}

// What the site gained goes with it: the next life may not know those URLs.
absl::Status CrawlDb::TakeBack(Edit& edit, SiteId site) {
  auto cuts = Sending(site);
  if (!cuts.ok()) return cuts.status();
  auto waiting = TakeGains(edit, site, std::numeric_limits<size_t>::max());
  if (!waiting.ok()) return waiting.status();
  std::vector<proto::MovedPage> pages;
  std::map<std::string, HostUpdate> hosts;  // The last word of each.
  for (OutboxCut& cut : *cuts) {
    edit.Delete(Column::kOutbox, keys::Sending(site, cut.sequence));
    edit.delta.outbox -= cut.batch.cash();
    edit.delta.outbox_urls[site] -=
        cut.batch.urls_size() + cut.batch.pages_size();
    for (const proto::FoundUrl& url : cut.batch.urls()) {
      waiting->emplace_back(site, Found{PageKey{url.page()}, url.cash(),
                                        url.depth(), url.redirects()});
    }
    for (proto::MovedPage& page : *cut.batch.mutable_pages()) {
      pages.push_back(std::move(page));
    }
    for (const proto::MovedHost& host : cut.batch.hosts()) {
      hosts[host.host()] = {HostKey{host.host()}, host.record()};
    }
  }
  if (absl::Status s = AddWaiting(edit, {}, *waiting); !s.ok()) return s;
  auto added = AddMoved(edit, std::move(pages), {});
  if (!added.ok()) return added.status();
  // Before the write: whoever looks too early looks once more for nothing.
  pages_taken_back_ += static_cast<uint64_t>(*added);
  for (const auto& [key, update] : hosts) {
    if (absl::Status s = AddMovedHost(edit, update); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SiteId>> CrawlDb::Destinations() {
  std::set<SiteId> sites;
  for (const auto& [site, urls] : totals().outbox_urls) sites.insert(site);
  const std::string prefix = keys::SentPrefix();
  const auto it = store_->Scan(Column::kMeta, prefix);
  for (it->Seek(prefix); it->Valid(); it->Next()) {
    const std::string id(it->key().substr(prefix.size()));
    sites.insert(SiteId{static_cast<uint32_t>(std::stoul(id))});
  }
  if (!it->status().ok()) return it->status();
  return std::vector<SiteId>(sites.begin(), sites.end());
}

absl::StatusOr<proto::SentPair> CrawlDb::OpenedPair(const Peer& to) {
  const auto identity = this->identity();
  if (!identity.ok()) return identity.status();
  auto pair = sent_pair(to.site);
  if (pair.ok() && (pair->my_incarnation() != identity->incarnation() ||
                    pair->their_incarnation() != to.incarnation)) {
    return absl::FailedPreconditionError(
        "batches are numbered for another life of that site, or of this");
  }
  return pair;
}

absl::StatusOr<OutboxCut> CrawlDb::CutOutbox(const Peer& to, size_t most,
                                             size_t most_bytes,
                                             std::string* cursor) {
  StripeLocks locks(*store_);
  auto pair = OpenedPair(to);
  if (!pair.ok()) return pair.status();
  Edit edit;
  OutboxCut cut;
  const std::string prefix = keys::Outbox(to.site, {});
  const auto it = store_->Scan(Column::kOutbox, prefix);
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
  // They stand together and leave as one range: row by row, each cut would step
  // over the tombstones of all before it.
  last.push_back('\0');
  edit.batch.DeleteRange(Column::kOutbox,
                         keys::Outbox(to.site, cut.batch.urls(0).page()), last);
  if (cursor != nullptr) *cursor = last;
  if (absl::Status s = FinishCut(edit, to.site, *pair, cut); !s.ok()) return s;
  return cut;
}

absl::Status CrawlDb::FinishCut(Edit& edit, SiteId to, proto::SentPair pair,
                                OutboxCut& cut) {
  cut.sequence = pair.cut() + 1;
  cut.batch.set_cash_so_far(Sum(pair.cut_cash(), cut.batch.cash()));
  pair.set_cut(cut.sequence);
  pair.set_cut_cash(cut.batch.cash_so_far());
  if (cut.batch.complete_for() != 0) {
    pair.set_completed_for(cut.batch.complete_for());
    pair.set_completed_at(cut.sequence);
  }
  edit.PutMessage(Column::kMeta, keys::SentPair(to), pair);
  edit.PutMessage(Column::kOutbox, keys::Sending(to, cut.sequence), cut.batch);
  return store_->Commit(edit, /*sync=*/true);
}

absl::StatusOr<std::vector<OutboxCut>> CrawlDb::Sending(SiteId destination,
                                                        uint64_t after,
                                                        size_t most) {
  std::vector<OutboxCut> cuts;
  // Only these: otherwise a look behind the last batch would step over all that
  // was ever cut out of the outbox that begins there.
  const auto it = store_->Scan(Column::kOutbox, SendingPrefix(destination));
  for (it->Seek(keys::Sending(destination, after + 1));
       it->Valid() && cuts.size() < most; it->Next()) {
    OutboxCut& cut = cuts.emplace_back();
    SiteId site{};
    std::string_view sequence;
    if (!keys::ParseOutbox(it->key(), site, sequence)) {
      return absl::DataLossError("a row of the outbox cannot be decoded");
    }
    cut.sequence = ReadBigEndian64(sequence);
    auto batch = ParseBatch(it->value());
    if (!batch.ok()) return batch.status();
    cut.batch = *std::move(batch);
  }
  if (!it->status().ok()) return it->status();
  return cuts;
}

absl::Status CrawlDb::Acknowledge(const Peer& by, uint64_t last) {
  StripeLocks locks(*store_);
  auto pair = OpenedPair(by);
  if (!pair.ok()) return pair.status();
  if (last > pair->cut()) {
    return absl::InvalidArgumentError(fmt::format(
        "batch {} is acknowledged, and {} was the last that was sent", last,
        pair->cut()));
  }
  if (last < pair->acknowledged()) {
    return absl::DataLossError(fmt::format(
        "that site had batch {}, and now {} is the last that it has: an old "
        "copy of it, that was not restored with 'gannet restore'",
        pair->acknowledged(), last));
  }
  Edit edit;
  for (uint64_t sequence = pair->acknowledged() + 1; sequence <= last;
       ++sequence) {
    const std::string key = keys::Sending(by.site, sequence);
    absl::StatusOr<std::string> row = store_->Get(Column::kOutbox, key);
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
  return store_->Commit(edit, /*sync=*/false);
}

// Which of the rows are another site's by now, or this one's own. What was
// gained is for a page that the new owner may not know: it goes as a URL.
absl::StatusOr<int64_t> CrawlDb::Reroute(SiteId from, const OwnerOf& owner,
                                         const Moment& moment) {
  constexpr size_t kAtOnce = 1000;
  const std::string prefixes[] = {keys::Gains(from, {}),
                                  keys::Outbox(from, {})};
  size_t kind = 0;
  int64_t moved = 0;
  for (std::string next = prefixes[0];;) {
    StripeLocks locks(*store_);
    Edit edit;
    std::vector<std::pair<SiteId, Found>> elsewhere;
    std::vector<Found> mine;
    const auto it = store_->Scan(Column::kOutbox, "");
    size_t seen = 0;
    for (it->Seek(next); seen < kAtOnce; it->Next(), ++seen) {
      if (!it->Valid() || !it->key().starts_with(prefixes[kind])) {
        if (kind == 1) break;
        next = prefixes[++kind];
        it->Seek(next);
        if (!it->Valid() || !it->key().starts_with(next)) break;
      }
      next = std::string(it->key()) + '\0';
      const std::string page(it->key().substr(prefixes[kind].size()));
      const std::optional<SiteId> to = owner(page);
      if (to == from) continue;
      proto::FoundUrl row;
      if (!row.ParseFromArray(it->value().data(), it->value().size())) {
        return absl::DataLossError("a URL of the outbox cannot be decoded");
      }
      const Found url{PageKey{page}, row.cash(), row.depth(), row.redirects()};
      edit.Delete(Column::kOutbox, it->key());
      edit.delta.outbox -= url.cash;
      --edit.delta.outbox_urls[from];
      if (to.has_value()) {
        elsewhere.emplace_back(*to, url);
      } else {
        mine.push_back(url);
      }
    }
    if (!it->status().ok()) return it->status();
    if (seen == 0) return moved;
    moved += static_cast<int64_t>(elsewhere.size() + mine.size());
    if (absl::Status s = AddWaiting(edit, {}, elsewhere); !s.ok()) return s;
    if (auto put = AddFound(edit, SortedAndMerged(mine), moment); !put.ok()) {
      return put.status();
    }
    if (absl::Status s = store_->Commit(edit, /*sync=*/false); !s.ok()) {
      return s;
    }
  }
}

}  // namespace gannet::storage
