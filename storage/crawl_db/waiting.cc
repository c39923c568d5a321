// Waiting to get in (deferred) and waiting to get out (outbox). Both keep one
// row per URL and merge the cash of what is found again.
#include <algorithm>

#include "storage/crawl_db/admission.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

proto::FoundUrl ToProto(const Found& url) {
  proto::FoundUrl row;
  row.set_cash(url.cash);
  row.set_depth(url.depth);
  row.set_redirects(url.redirects);
  return row;
}

absl::StatusOr<Found> FromRow(std::string_view page, std::string_view value) {
  proto::FoundUrl row;
  if (!row.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return absl::DataLossError("a waiting URL cannot be decoded");
  }
  return Found{PageKey{std::string(page)}, row.cash(), row.depth(),
               row.redirects()};
}

// What the row will be once `url` has joined it; `before` is its cash until
// now.
absl::StatusOr<Found> Join(const Found& url,
                           const std::optional<std::string>& row,
                           std::optional<int64_t>& before) {
  before.reset();
  if (!row.has_value()) return url;
  absl::StatusOr<Found> old = FromRow(url.page.bytes, *row);
  if (!old.ok()) return old;
  before = old->cash;
  return SortedAndMerged({url, *old}).front();
}

}  // namespace

absl::Status CrawlDb::AddWaiting(
    Edit& edit, absl::Span<const Found> found,
    absl::Span<const std::pair<SiteId, Found>> remote) {
  const std::vector<Found> deferred = SortedAndMerged(found);
  std::vector<std::string> row_keys;
  for (const Found& url : deferred) {
    row_keys.push_back(keys::Deferred(url.page.bytes));
  }
  auto rows = store_->MultiGet(Column::kDeferred, row_keys);
  if (!rows.ok()) return rows.status();
  for (size_t i = 0; i < deferred.size(); ++i) {
    const std::string& page = deferred[i].page.bytes;
    std::optional<int64_t> before;
    absl::StatusOr<Found> joined = Join(deferred[i], (*rows)[i], before);
    if (!joined.ok()) return joined.status();
    if (before.has_value()) {
      store_->Delete(edit, Column::kDeferred,
                     keys::DeferredByCash(*before, page));
    } else {
      ++edit.delta.deferred_urls;
    }
    store_->PutMessage(edit, Column::kDeferred, row_keys[i], ToProto(*joined));
    store_->Put(edit, Column::kDeferred,
                keys::DeferredByCash(joined->cash, page), {});
    edit.delta.deferred += deferred[i].cash;
  }

  std::map<SiteId, std::vector<Found>> by_site;
  for (const auto& [site, url] : remote) {
    by_site[site].push_back(url);
  }
  for (const auto& [site, urls] : by_site) {
    const std::vector<Found> merged = SortedAndMerged(urls);
    row_keys.clear();
    for (const Found& url : merged) {
      row_keys.push_back(keys::Outbox(site, url.page.bytes));
    }
    rows = store_->MultiGet(Column::kOutbox, row_keys);
    if (!rows.ok()) return rows.status();
    for (size_t i = 0; i < merged.size(); ++i) {
      std::optional<int64_t> before;
      absl::StatusOr<Found> joined = Join(merged[i], (*rows)[i], before);
      if (!joined.ok()) return joined.status();
      if (!before.has_value()) ++edit.delta.outbox_urls[site];
      store_->PutMessage(edit, Column::kOutbox, row_keys[i], ToProto(*joined));
      edit.delta.outbox += merged[i].cash;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Found>> CrawlDb::TopDeferred(size_t most) {
  std::vector<std::string> pages;
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(
      rocksdb::ReadOptions(), store_->column(Column::kDeferred)));
  for (it->Seek("c");
       it->Valid() && it->key().starts_with("c") && pages.size() < most;
       it->Next()) {
    int64_t cash = 0;
    std::string_view page;
    if (!keys::ParseDeferredByCash({it->key().data(), it->key().size()}, cash,
                                   page)) {
      return absl::DataLossError("a row of deferred cannot be decoded");
    }
    pages.emplace_back(page);
  }
  if (!it->status().ok()) {
    return FromRocksDb(it->status(), "reading the deferred URLs");
  }
  std::vector<Found> urls;
  for (const std::string& page : pages) {
    absl::StatusOr<std::string> row =
        store_->Get(Column::kDeferred, keys::Deferred(page));
    if (absl::IsNotFound(row.status())) continue;  // Let in meanwhile.
    if (!row.ok()) return row.status();
    absl::StatusOr<Found> url = FromRow(page, *row);
    if (!url.ok()) return url.status();
    urls.push_back(*std::move(url));
  }
  return urls;
}

absl::StatusOr<PutCounts> CrawlDb::Undefer(absl::Span<const PageKey> pages,
                                           const Moment& moment,
                                           int64_t most_host_pages) {
  std::vector<PageKey> sorted(pages.begin(), pages.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  StripeLocks locks(*store_, PagesOf(sorted));
  std::vector<std::string> row_keys;
  for (const PageKey& page : sorted) {
    row_keys.push_back(keys::Deferred(page.bytes));
  }
  auto rows = store_->MultiGet(Column::kDeferred, row_keys);
  if (!rows.ok()) return rows.status();
  Edit edit;
  std::vector<Found> urls;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (!(*rows)[i].has_value()) continue;
    absl::StatusOr<Found> url = FromRow(sorted[i].bytes, *(*rows)[i]);
    if (!url.ok()) return url.status();
    store_->Delete(edit, Column::kDeferred, row_keys[i]);
    store_->Delete(edit, Column::kDeferred,
                   keys::DeferredByCash(url->cash, sorted[i].bytes));
    --edit.delta.deferred_urls;
    edit.delta.deferred -= url->cash;
    urls.push_back(*std::move(url));
  }
  Settlement limits;
  limits.most_host_pages = most_host_pages;
  Admission admission(*this, limits);
  absl::StatusOr<PutCounts> counts = AddFound(edit, urls, moment, &admission);
  if (!counts.ok()) return counts;
  counts->dropped = admission.dropped();
  if (store_->journal().phase() == proto::UPDATE) {
    edit.counts.set_added(counts->added);  // They count for the round's quota.
  }
  if (absl::Status status = store_->Commit(edit, /*sync=*/false);
      !status.ok()) {
    return status;
  }
  return counts;
}

absl::StatusOr<OutboxCut> CrawlDb::CutOutbox(SiteId destination, size_t most) {
  StripeLocks locks(*store_);
  Edit edit;
  OutboxCut cut;
  const std::string prefix = keys::Outbox(destination, {});
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(
      rocksdb::ReadOptions(), store_->column(Column::kOutbox)));
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix) &&
                         static_cast<size_t>(cut.batch.urls_size()) < most;
       it->Next()) {
    proto::FoundUrl* url = cut.batch.add_urls();
    if (!url->ParseFromArray(it->value().data(), it->value().size())) {
      return absl::DataLossError("a URL of the outbox cannot be decoded");
    }
    url->set_page(it->key().data() + prefix.size(),
                  it->key().size() - prefix.size());
    cut.batch.set_cash(cut.batch.cash() + url->cash());
    edit.batch.Delete(store_->column(Column::kOutbox), it->key());
  }
  if (!it->status().ok()) {
    return FromRocksDb(it->status(), "reading the outbox");
  }
  if (cut.batch.urls_size() == 0) {
    return absl::NotFoundError("the outbox is empty");
  }
  cut.sequence = 1;
  const std::string sequence_key = keys::NextSequence(destination);
  if (auto last = store_->Get(Column::kMeta, sequence_key); last.ok()) {
    cut.sequence = DecodeCount(*last) + 1;
  } else if (!absl::IsNotFound(last.status())) {
    return last.status();
  }
  store_->Put(edit, Column::kMeta, sequence_key, EncodeCount(cut.sequence));
  store_->PutMessage(edit, Column::kOutbox,
                     keys::Sending(destination, cut.sequence), cut.batch);
  if (absl::Status status = store_->Commit(edit, /*sync=*/true); !status.ok()) {
    return status;
  }
  return cut;
}

absl::StatusOr<std::vector<OutboxCut>> CrawlDb::Sending(SiteId destination) {
  std::vector<OutboxCut> cuts;
  const std::string first = keys::Sending(destination, 0);
  const std::string prefix = first.substr(0, first.size() - 8);
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(
      rocksdb::ReadOptions(), store_->column(Column::kOutbox)));
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
       it->Next()) {
    OutboxCut& cut = cuts.emplace_back();
    SiteId site{};
    std::string_view sequence;
    if (!keys::ParseOutbox({it->key().data(), it->key().size()}, site,
                           sequence)) {
      return absl::DataLossError("a row of the outbox cannot be decoded");
    }
    cut.sequence = ReadBigEndian64(sequence);
    if (!cut.batch.ParseFromArray(it->value().data(), it->value().size())) {
      return absl::DataLossError("a batch being sent cannot be decoded");
    }
  }
  if (!it->status().ok()) {
    return FromRocksDb(it->status(), "reading the outbox");
  }
  return cuts;
}

absl::Status CrawlDb::Acknowledge(SiteId destination, uint64_t sequence) {
  StripeLocks locks(*store_);
  const std::string key = keys::Sending(destination, sequence);
  absl::StatusOr<std::string> row = store_->Get(Column::kOutbox, key);
  if (!row.ok()) return row.status();
  proto::OutboxBatch batch;
  if (!batch.ParseFromString(*row)) {
    return absl::DataLossError("a batch being sent cannot be decoded");
  }
  Edit edit;
  store_->Delete(edit, Column::kOutbox, key);
  edit.delta.outbox -= batch.cash();
  edit.delta.acknowledged += batch.cash();
  edit.delta.outbox_urls[destination] -= batch.urls_size();
  return store_->Commit(edit, /*sync=*/false);
}

}  // namespace gannet::storage
