#include "storage/crawl_db/waiting.h"

#include <algorithm>
#include <set>

#include "storage/crawl_db/admission.h"
#include "storage/crawl_db/page_rows.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"
#include "storage/crawl_db/waiting_rows.h"

namespace gannet::storage {
namespace {

// Rows that are moved with one write, where there may be many.
constexpr size_t kAtOnce = 1000;

}  // namespace

absl::StatusOr<std::vector<FoundUrl>> Waiting::TopDeferred(
    size_t most, const std::optional<FoundUrl>& after) {
  std::vector<FoundUrl> urls;
  const auto it = store_.Scan(Column::kDeferred, "c");
  for (it->Seek(after.has_value()
                    ? keys::DeferredByCash(after->cash, after->page.bytes) +
                          '\0'
                    : "c");
       it->Valid() && urls.size() < most; it->Next()) {
    FoundUrl& url = urls.emplace_back();
    std::string_view page;
    if (!keys::ParseDeferredByCash(it->key(), url.cash, page)) {
      return absl::DataLossError("a row of deferred cannot be decoded");
    }
    url.page.bytes = page;
  }
  if (!it->status().ok()) return it->status();
  return urls;
}

absl::Status Waiting::SendDeferred(
    absl::Span<const std::pair<SiteId, PageKey>> pages, bool for_round) {
  std::vector<FoundUrl> urls;
  for (const auto& [site, page] : pages) urls.push_back(FoundUrl{page});
  std::set<SiteId> sites;
  for (const auto& [site, page] : pages) sites.insert(site);
  StripeLocks locks(store_.stripes(), PagesOf(urls));
  PairLocks pairs(store_.pairs(), std::move(sites));
  Edit edit;
  auto waiting = TakeDeferred(store_, edit, urls);
  if (!waiting.ok()) return waiting.status();
  RemoteUrls sent;
  for (const auto& [site, page] : pages) {
    auto row = waiting->extract(page.bytes);
    if (row.empty()) continue;
    sent.emplace_back(site, std::move(row.mapped()));
    if (for_round) {
      ++(*edit.counts.mutable_sent_to())[static_cast<uint32_t>(site)];
    }
  }
  if (absl::Status s = AddOutbox(store_, edit, sent); !s.ok()) return s;
  return store_.Commit(edit);
}

absl::StatusOr<int64_t> Waiting::SweepDeferred(const OwnerOf& owner) {
  int64_t moved = 0;
  for (std::string next = keys::Deferred({});;) {
    std::vector<std::pair<SiteId, PageKey>> elsewhere;
    const auto it = store_.Scan(Column::kDeferred, "u");
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

absl::Status Waiting::SendAgain(
    absl::Span<const std::pair<SiteId, FoundUrl>> urls) {
  std::set<SiteId> sites;
  for (const auto& [site, url] : urls) {
    if (url.cash != 0 || !IsPageKey(url.page.bytes)) {
      return absl::InvalidArgumentError(
          "a URL that is sent again has cash, or no page key");
    }
    sites.insert(site);
  }
  PairLocks pairs(store_.pairs(), std::move(sites));
  Edit edit;
  if (absl::Status s = AddOutbox(store_, edit, urls); !s.ok()) return s;
  return store_.Commit(edit);
}

absl::StatusOr<int64_t> Waiting::ReleaseGains(SiteId of) {
  for (int64_t released = 0;;) {
    PairLocks pair(store_.pairs(), {of});
    Edit edit;
    auto gains = TakeGains(store_, edit, of, kAtOnce);
    if (!gains.ok()) return gains.status();
    if (gains->empty()) return released;
    released += static_cast<int64_t>(gains->size());
    if (absl::Status s = AddOutbox(store_, edit, *gains); !s.ok()) return s;
    if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  }
}

absl::StatusOr<int64_t> Waiting::ReleaseGains() {
  int64_t released = 0;
  for (const auto& [site, urls] : store_.totals().outbox_urls) {
    auto of_site = ReleaseGains(site);
    if (!of_site.ok()) return of_site;
    released += *of_site;
  }
  return released;
}

// First finds the rows that belong to another site by now, or to this one,
// without locks: only then is it known which locks are needed. A row that has
// changed since is moved as it is then; one that has gone is skipped.
absl::StatusOr<int64_t> Waiting::Reroute(SiteId from, const OwnerOf& owner,
                                         const Moment& moment) {
  int64_t moved = 0;
  std::vector<Rerouted> rows;
  size_t seen = 0;
  const auto move_rows = [&]() -> absl::Status {
    auto now = MoveRows(from, rows, moment);
    if (!now.ok()) return now.status();
    moved += *now;
    rows.clear();
    seen = 0;
    return absl::OkStatus();
  };
  // Gains first, and what there is of both in one write: a page may have a row
  // of each, which become one URL.
  for (const std::string& prefix :
       {keys::Gains(from, {}), keys::Outbox(from, {})}) {
    for (std::string next = prefix; !next.empty();) {
      const auto it = store_.Scan(Column::kOutbox, prefix);
      for (it->Seek(next); it->Valid() && seen < kAtOnce; it->Next(), ++seen) {
        const std::string page(it->key().substr(prefix.size()));
        const std::optional<SiteId> to = owner(page);
        if (to != from) rows.push_back({std::string(it->key()), page, to});
      }
      next = it->Valid() ? std::string(it->key()) : "";
      if (!it->status().ok()) return it->status();
      if (next.empty()) break;
      if (absl::Status s = move_rows(); !s.ok()) return s;
    }
  }
  if (absl::Status s = move_rows(); !s.ok()) return s;
  return moved;
}

// Gains are sent to the new owner as found URLs, because it may not know the
// pages.
absl::StatusOr<int64_t> Waiting::MoveRows(SiteId from,
                                          const std::vector<Rerouted>& rows,
                                          const Moment& moment) {
  if (rows.empty()) return 0;
  std::set<SiteId> sites = {from};
  std::vector<std::string_view> row_keys, my_pages;
  for (const Rerouted& row : rows) {
    row_keys.push_back(row.key);
    if (row.to.has_value()) {
      sites.insert(*row.to);
    } else {
      my_pages.push_back(row.page);
    }
  }
  StripeLocks locks(store_.stripes(), my_pages);
  PairLocks pairs(store_.pairs(), std::move(sites));
  auto values = store_.engine().MultiGet(Column::kOutbox, row_keys);
  if (!values.ok()) return values.status();
  Edit edit;
  RemoteUrls elsewhere;
  std::vector<FoundUrl> mine;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!(*values)[i].has_value()) continue;
    auto url = FoundUrlFromRow(rows[i].page, *(*values)[i]);
    if (!url.ok()) return url.status();
    edit.Delete(Column::kOutbox, rows[i].key);
    edit.delta.outbox -= url->cash;
    --edit.delta.outbox_urls[from];
    if (rows[i].to.has_value()) {
      elsewhere.emplace_back(*rows[i].to, *std::move(url));
    } else {
      mine.push_back(*std::move(url));
    }
  }
  const auto moved = static_cast<int64_t>(elsewhere.size() + mine.size());
  if (absl::Status s = AddOutbox(store_, edit, elsewhere); !s.ok()) return s;
  auto put = AddFound(store_, edit, SortedAndMerged(std::move(mine)), moment);
  if (!put.ok()) return put.status();
  if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  return moved;
}

absl::StatusOr<PutCounts> Waiting::Undefer(absl::Span<const PageKey> pages,
                                           const Moment& moment,
                                           int64_t most_host_pages) {
  std::vector<PageKey> sorted(pages.begin(), pages.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  StripeLocks locks(store_.stripes(), PagesOf(sorted));
  std::vector<FoundUrl> asked(sorted.size());
  for (size_t i = 0; i < sorted.size(); ++i) {
    asked[i].page = std::move(sorted[i]);
  }
  auto rows = DeferredOf(store_, asked);
  if (!rows.ok()) return rows.status();
  Edit edit;
  std::vector<FoundUrl> urls;
  for (std::optional<FoundUrl>& row : *rows) {
    if (!row.has_value()) continue;
    DeleteDeferred(edit, *row);
    urls.push_back(*std::move(row));
  }
  AdmissionLimits limits;
  limits.most_host_pages = most_host_pages;
  Admission admission = Admission::OfDeferred(store_, limits);
  absl::StatusOr<PutCounts> counts =
      AddFound(store_, edit, urls, moment, &admission);
  if (!counts.ok()) return counts;
  counts->dropped = admission.dropped();
  if (store_.journal().phase() == proto::UPDATE) {
    edit.counts.set_added(counts->added);  // They count for the round's quota.
    CountDropped(edit);
  }
  if (absl::Status status = store_.Commit(edit); !status.ok()) {
    return status;
  }
  return counts;
}

absl::StatusOr<std::vector<std::optional<int64_t>>> Waiting::CashOfNew(
    absl::Span<const FoundUrl> urls) {
  const std::vector<std::string_view> pages = PagesOf(urls);
  StripeLocks locks(store_.stripes(), pages);
  auto rows = store_.engine().MultiGet(Column::kPages, pages);
  if (!rows.ok()) return rows.status();
  auto deferred = DeferredOf(store_, urls);
  if (!deferred.ok()) return deferred.status();
  std::vector<std::optional<int64_t>> cash(pages.size());
  for (size_t i = 0; i < cash.size(); ++i) {
    if ((*rows)[i].has_value() || store_.IsBlocked(pages[i])) continue;
    cash[i] = urls[i].cash;
    if ((*deferred)[i].has_value()) *cash[i] += (*deferred)[i]->cash;
  }
  return cash;
}

}  // namespace gannet::storage
