#include "storage/crawl_db/waiting_rows.h"

#include <utility>

#include "storage/crawl_db/sorted.h"

namespace gannet::storage {
namespace {

proto::FoundUrl ToProto(const FoundUrl& url) {
  proto::FoundUrl row;
  row.set_cash(url.cash);
  row.set_depth(url.depth);
  row.set_redirects(url.redirects);
  return row;
}

// What the row will be once `url` has joined it; `before` is its cash until
// now.
absl::StatusOr<FoundUrl> Join(const FoundUrl& url,
                              const std::optional<std::string>& row,
                              std::optional<int64_t>& before) {
  before.reset();
  if (!row.has_value()) return url;
  absl::StatusOr<FoundUrl> old = FoundUrlFromRow(url.page.bytes, *row);
  if (!old.ok()) return old;
  before = old->cash;
  return SortedAndMerged({url, *old}).front();
}

absl::Status AddRemote(Store& store, Edit& edit, RemoteSpan remote,
                       bool as_gains)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.pairs()) {
  std::vector<std::string> row_keys;
  std::map<SiteId, std::vector<FoundUrl>> by_site;
  for (const auto& [site, url] : remote) {
    by_site[site].push_back(url);
  }
  for (const auto& [site, urls] : by_site) {
    const std::vector<FoundUrl> merged = SortedAndMerged(urls);
    row_keys.clear();
    for (const FoundUrl& url : merged) {
      row_keys.push_back(as_gains ? keys::Gains(site, url.page.bytes)
                                  : keys::Outbox(site, url.page.bytes));
    }
    auto rows = store.MultiGet(Column::kOutbox, row_keys);
    if (!rows.ok()) return rows.status();
    for (size_t i = 0; i < merged.size(); ++i) {
      std::optional<int64_t> before;
      absl::StatusOr<FoundUrl> joined = Join(merged[i], (*rows)[i], before);
      if (!joined.ok()) return joined.status();
      if (!before.has_value()) ++edit.delta.outbox_urls[site];
      edit.PutMessage(Column::kOutbox, row_keys[i], ToProto(*joined));
      edit.delta.outbox += merged[i].cash;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FoundUrl> FoundUrlFromRow(std::string_view page,
                                         std::string_view value) {
  proto::FoundUrl row;
  if (!row.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return absl::DataLossError("a waiting URL cannot be decoded");
  }
  return FoundUrl{PageKey{std::string(page)}, row.cash(), row.depth(),
                  row.redirects()};
}

absl::Status AddDeferred(Store& store, Edit& edit,
                         absl::Span<const FoundUrl> urls) {
  const std::vector<FoundUrl> deferred =
      SortedAndMerged({urls.begin(), urls.end()});
  std::vector<std::string> row_keys;
  for (const FoundUrl& url : deferred) {
    row_keys.push_back(keys::Deferred(url.page.bytes));
  }
  auto rows = store.MultiGet(Column::kDeferred, row_keys);
  if (!rows.ok()) return rows.status();
  for (size_t i = 0; i < deferred.size(); ++i) {
    const std::string& page = deferred[i].page.bytes;
    std::optional<int64_t> before;
    absl::StatusOr<FoundUrl> joined = Join(deferred[i], (*rows)[i], before);
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
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::optional<FoundUrl>>> DeferredOf(
    Store& store, absl::Span<const FoundUrl> urls) {
  std::vector<std::optional<FoundUrl>> deferred(urls.size());
  if (store.totals().deferred_urls == 0) return deferred;
  std::vector<std::string> row_keys;
  row_keys.reserve(urls.size());
  for (const FoundUrl& url : urls) {
    row_keys.push_back(keys::Deferred(url.page.bytes));
  }
  auto rows = store.MultiGet(Column::kDeferred, row_keys);
  if (!rows.ok()) return rows.status();
  for (size_t i = 0; i < urls.size(); ++i) {
    if (!(*rows)[i].has_value()) continue;
    absl::StatusOr<FoundUrl> url =
        FoundUrlFromRow(urls[i].page.bytes, *(*rows)[i]);
    if (!url.ok()) return url.status();
    deferred[i] = *std::move(url);
  }
  return deferred;
}

void DeleteDeferred(Edit& edit, const FoundUrl& row) {
  edit.Delete(Column::kDeferred, keys::Deferred(row.page.bytes));
  edit.Delete(Column::kDeferred,
              keys::DeferredByCash(row.cash, row.page.bytes));
  --edit.delta.deferred_urls;
  edit.delta.deferred -= row.cash;
}

absl::StatusOr<std::map<std::string, FoundUrl>> TakeDeferred(
    Store& store, Edit& edit, std::vector<FoundUrl> urls) {
  auto rows = DeferredOf(store, SortedAndMerged(urls));
  if (!rows.ok()) return rows.status();
  std::map<std::string, FoundUrl> taken;
  for (std::optional<FoundUrl>& row : *rows) {
    if (!row.has_value()) continue;
    DeleteDeferred(edit, *row);
    taken.emplace(row->page.bytes, *std::move(row));
  }
  return taken;
}

absl::Status JoinDeferred(Store& store, Edit& edit, RemoteUrls& remote) {
  std::vector<FoundUrl> urls;
  for (const auto& [site, url] : remote) urls.push_back(url);
  auto waiting = TakeDeferred(store, edit, std::move(urls));
  if (!waiting.ok()) return waiting.status();
  for (auto& [site, url] : remote) {
    const auto row = waiting->extract(url.page.bytes);
    if (!row.empty()) url = SortedAndMerged({url, row.mapped()}).front();
  }
  return absl::OkStatus();
}

absl::Status AddOutbox(Store& store, Edit& edit, RemoteSpan urls) {
  return AddRemote(store, edit, urls, /*as_gains=*/false);
}

absl::Status AddGains(Store& store, Edit& edit, RemoteSpan urls) {
  return AddRemote(store, edit, urls, /*as_gains=*/true);
}

absl::StatusOr<RemoteUrls> TakeGains(Store& store, Edit& edit, SiteId of,
                                     size_t most) {
  RemoteUrls taken;
  const std::string prefix = keys::Gains(of, {});
  const auto it = store.Scan(Column::kOutbox, prefix);
  for (it->Seek(prefix); it->Valid() && taken.size() < most; it->Next()) {
    SiteId site{};
    std::string_view page;
    if (!keys::ParseOutbox(it->key(), site, page)) {
      return absl::DataLossError("a row of the outbox cannot be decoded");
    }
    auto url = FoundUrlFromRow(page, it->value());
    if (!url.ok()) return url.status();
    edit.Delete(Column::kOutbox, it->key());
    edit.delta.outbox -= url->cash;
    --edit.delta.outbox_urls[site];
    taken.emplace_back(site, *std::move(url));
  }
  if (!it->status().ok()) return it->status();
  return taken;
}

}  // namespace gannet::storage
