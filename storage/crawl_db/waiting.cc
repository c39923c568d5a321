// Waiting to get in (deferred) and waiting to get out (outbox). Both keep one
// row per URL and merge the cash of what is found again. How an outbox is sent
// is in sending.cc.
//
// What a page gains that its owner was sent before waits apart ('g' rows), so
// that it is merged over some rounds before it crosses the ocean.
#include <algorithm>

#include "storage/crawl_db/admission.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

// Rows that are moved with one write, where there may be many.
constexpr size_t kAtOnce = 1000;

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

absl::Status CrawlDb::AddWaiting(Edit& edit, absl::Span<const Found> found,
                                 Remote remote, Remote gains) {
  const std::vector<Found> deferred =
      SortedAndMerged({found.begin(), found.end()});
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
      edit.Delete(Column::kDeferred, keys::DeferredByCash(*before, page));
    } else {
      ++edit.delta.deferred_urls;
    }
    edit.PutMessage(Column::kDeferred, row_keys[i], ToProto(*joined));
    edit.Put(Column::kDeferred, keys::DeferredByCash(joined->cash, page), {});
    edit.delta.deferred += deferred[i].cash;
  }
  if (absl::Status s = AddOutbox(edit, remote, /*as_gains=*/false); !s.ok()) {
    return s;
  }
  return AddOutbox(edit, gains, /*as_gains=*/true);
}

absl::Status CrawlDb::AddOutbox(Edit& edit, Remote remote, bool as_gains) {
  std::vector<std::string> row_keys;
  std::map<SiteId, std::vector<Found>> by_site;
  for (const auto& [site, url] : remote) {
    by_site[site].push_back(url);
  }
  for (const auto& [site, urls] : by_site) {
    const std::vector<Found> merged = SortedAndMerged(urls);
    row_keys.clear();
    for (const Found& url : merged) {
      row_keys.push_back(as_gains ? keys::Gains(site, url.page.bytes)
                                  : keys::Outbox(site, url.page.bytes));
    }
    auto rows = store_->MultiGet(Column::kOutbox, row_keys);
    if (!rows.ok()) return rows.status();
    for (size_t i = 0; i < merged.size(); ++i) {
      std::optional<int64_t> before;
      absl::StatusOr<Found> joined = Join(merged[i], (*rows)[i], before);
      if (!joined.ok()) return joined.status();
      if (!before.has_value()) ++edit.delta.outbox_urls[site];
      edit.PutMessage(Column::kOutbox, row_keys[i], ToProto(*joined));
      edit.delta.outbox += merged[i].cash;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::optional<Found>>> CrawlDb::DeferredOf(
    absl::Span<const Found> urls) {
  std::vector<std::optional<Found>> deferred(urls.size());
  if (store_->totals().deferred_urls == 0) return deferred;
  std::vector<std::string> row_keys;
  row_keys.reserve(urls.size());
  for (const Found& url : urls) {
    row_keys.push_back(keys::Deferred(url.page.bytes));
  }
  auto rows = store_->MultiGet(Column::kDeferred, row_keys);
  if (!rows.ok()) return rows.status();
  for (size_t i = 0; i < urls.size(); ++i) {
    if (!(*rows)[i].has_value()) continue;
    absl::StatusOr<Found> url = FromRow(urls[i].page.bytes, *(*rows)[i]);
    if (!url.ok()) return url.status();
    deferred[i] = *std::move(url);
  }
  return deferred;
}

void CrawlDb::DeleteDeferred(Edit& edit, const Found& row) {
  edit.Delete(Column::kDeferred, keys::Deferred(row.page.bytes));
  edit.Delete(Column::kDeferred,
              keys::DeferredByCash(row.cash, row.page.bytes));
  --edit.delta.deferred_urls;
  edit.delta.deferred -= row.cash;
}

absl::StatusOr<std::vector<Found>> CrawlDb::TopDeferred(
    size_t most, const std::optional<Found>& after) {
  std::vector<Found> urls;
  const auto it = store_->Scan(Column::kDeferred, "c");
  for (it->Seek(after.has_value()
                    ? keys::DeferredByCash(after->cash, after->page.bytes) +
                          '\0'
                    : "c");
       it->Valid() && urls.size() < most; it->Next()) {
    Found& url = urls.emplace_back();
    std::string_view page;
    if (!keys::ParseDeferredByCash(it->key(), url.cash, page)) {
      return absl::DataLossError("a row of deferred cannot be decoded");
    }
    url.page.bytes = page;
  }
  if (!it->status().ok()) return it->status();
  return urls;
}

absl::StatusOr<std::map<std::string, Found>> CrawlDb::TakeDeferred(
    Edit& edit, std::vector<Found> urls) {
  auto rows = DeferredOf(SortedAndMerged(urls));
  if (!rows.ok()) return rows.status();
  std::map<std::string, Found> taken;
  for (std::optional<Found>& row : *rows) {
    if (!row.has_value()) continue;
    DeleteDeferred(edit, *row);
    taken.emplace(row->page.bytes, *std::move(row));
  }
  return taken;
}

absl::Status CrawlDb::JoinDeferred(
    Edit& edit, std::vector<std::pair<SiteId, Found>>& remote) {
  std::vector<Found> urls;
  for (const auto& [site, url] : remote) urls.push_back(url);
  auto waiting = TakeDeferred(edit, std::move(urls));
  if (!waiting.ok()) return waiting.status();
  for (auto& [site, url] : remote) {
    const auto row = waiting->extract(url.page.bytes);
    if (!row.empty()) url = SortedAndMerged({url, row.mapped()}).front();
  }
  return absl::OkStatus();
}

absl::Status CrawlDb::SendDeferred(
    absl::Span<const std::pair<SiteId, PageKey>> pages, bool for_round) {
  std::vector<Found> urls;
  for (const auto& [site, page] : pages) urls.push_back(Found{page});
  StripeLocks locks(*store_, PagesOf(urls));
  Edit edit;
  auto waiting = TakeDeferred(edit, urls);
  if (!waiting.ok()) return waiting.status();
  std::vector<std::pair<SiteId, Found>> sent;
  for (const auto& [site, page] : pages) {
    auto row = waiting->extract(page.bytes);
    if (row.empty()) continue;
    sent.emplace_back(site, std::move(row.mapped()));
    if (for_round) {
      ++(*edit.counts.mutable_sent_to())[static_cast<uint32_t>(site)];
    }
  }
  if (absl::Status s = AddWaiting(edit, {}, sent); !s.ok()) return s;
  return store_->Commit(edit, /*sync=*/false);
}

absl::StatusOr<int64_t> CrawlDb::SweepDeferred(const OwnerOf& owner) {
  int64_t moved = 0;
  for (std::string next = keys::Deferred({});;) {
    std::vector<std::pair<SiteId, PageKey>> elsewhere;
    const auto it = store_->Scan(Column::kDeferred, "u");
    for (it->Seek(next); it->Valid() && elsewhere.size() < kAtOnce;
         it->Next()) {
      next = std::string(it->key()) + '\0';
      std::string page(it->key().substr(1));
      const std::optional<SiteId> to = owner(page);
      if (to.has_value()) elsewhere.emplace_back(*to, PageKey{std::move(page)});
    }
    if (!it->status().ok()) return it->status();
    if (elsewhere.empty()) return moved;
    moved += static_cast<int64_t>(elsewhere.size());
    if (absl::Status s = SendDeferred(elsewhere); !s.ok()) return s;
  }
}

absl::StatusOr<std::vector<std::pair<SiteId, Found>>> CrawlDb::TakeGains(
    Edit& edit, std::optional<SiteId> of, size_t most) {
  std::vector<std::pair<SiteId, Found>> taken;
  const std::string prefix = of.has_value() ? keys::Gains(*of, {}) : "g";
  const auto it = store_->Scan(Column::kOutbox, prefix);
  for (it->Seek(prefix); it->Valid() && taken.size() < most; it->Next()) {
    SiteId site{};
    std::string_view page;
    if (!keys::ParseOutbox(it->key(), site, page)) {
      return absl::DataLossError("a row of the outbox cannot be decoded");
    }
    auto url = FromRow(page, it->value());
    if (!url.ok()) return url.status();
    edit.Delete(Column::kOutbox, it->key());
    edit.delta.outbox -= url->cash;
    --edit.delta.outbox_urls[site];
    taken.emplace_back(site, *std::move(url));
  }
  if (!it->status().ok()) return it->status();
  return taken;
}

absl::Status CrawlDb::SendAgain(
    absl::Span<const std::pair<SiteId, Found>> urls) {
  std::vector<std::string_view> pages;
  for (const auto& [site, url] : urls) {
    if (url.cash != 0 || !IsPageKey(url.page.bytes)) {
      return absl::InvalidArgumentError(
          "a URL that is sent again has cash, or no page key");
    }
    pages.push_back(url.page.bytes);
  }
  StripeLocks locks(*store_, pages);
  Edit edit;
  if (absl::Status s = AddWaiting(edit, {}, urls); !s.ok()) return s;
  return store_->Commit(edit, /*sync=*/false);
}

absl::StatusOr<int64_t> CrawlDb::ReleaseGains() {
  for (int64_t released = 0;;) {
    StripeLocks locks(*store_);
    Edit edit;
    auto gains = TakeGains(edit, std::nullopt, kAtOnce);
    if (!gains.ok()) return gains.status();
    if (gains->empty()) return released;
    released += static_cast<int64_t>(gains->size());
    if (absl::Status s = AddWaiting(edit, {}, *gains); !s.ok()) return s;
    if (absl::Status s = store_->Commit(edit, /*sync=*/false); !s.ok()) {
      return s;
    }
  }
}

absl::Status CrawlDb::ReleaseManyGains(SiteId of) {
  for (;;) {
    Edit edit;
    auto gains = TakeGains(edit, of, kAtOnce);
    if (!gains.ok()) return gains.status();
    if (gains->size() < kAtOnce) return absl::OkStatus();
    if (absl::Status s = AddWaiting(edit, {}, *gains); !s.ok()) return s;
    if (absl::Status s = store_->Commit(edit, /*sync=*/false); !s.ok()) {
      return s;
    }
  }
}

absl::StatusOr<PutCounts> CrawlDb::Undefer(absl::Span<const PageKey> pages,
                                           const Moment& moment,
                                           int64_t most_host_pages) {
  std::vector<PageKey> sorted(pages.begin(), pages.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  StripeLocks locks(*store_, PagesOf(sorted));
  std::vector<Found> asked(sorted.size());
  for (size_t i = 0; i < sorted.size(); ++i) {
    asked[i].page = std::move(sorted[i]);
  }
  auto rows = DeferredOf(asked);
  if (!rows.ok()) return rows.status();
  Edit edit;
  std::vector<Found> urls;
  for (std::optional<Found>& row : *rows) {
    if (!row.has_value()) continue;
    DeleteDeferred(edit, *row);
    urls.push_back(*std::move(row));
  }
  Settlement limits;
  limits.most_host_pages = most_host_pages;
  Admission admission = Admission::OfDeferred(*this, limits);
  absl::StatusOr<PutCounts> counts = AddFound(edit, urls, moment, &admission);
  if (!counts.ok()) return counts;
  counts->dropped = admission.dropped();
  if (store_->journal().phase() == proto::UPDATE) {
    edit.counts.set_added(counts->added);  // They count for the round's quota.
    CountDropped(edit);
  }
  if (absl::Status status = store_->Commit(edit, /*sync=*/false);
      !status.ok()) {
    return status;
  }
  return counts;
}

}  // namespace gannet::storage
