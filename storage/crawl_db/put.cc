// Seeds and found URLs: what makes a page known.
#include <fmt/format.h>

#include <algorithm>

#include "storage/crawl_db/admission.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/page_moves.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

// The most that a site may hold: far more than its seeds bring, and with it
// every sum of what is held fits.
constexpr int64_t kMostCash = int64_t{1} << 62;

void AddCash(Store& store, Edit& edit, std::string_view page,
             proto::PageRecord& record, int64_t cash, const Moment& moment) {
  if (cash == 0) return;
  const uint8_t step = store.StepOf(page, record);
  if (KeepsCash(record, moment)) {
    record.set_cash(record.cash() + cash);
    edit.delta.pages += cash;
  } else {
    AddHistory(record, cash);
    edit.delta.root += cash;
  }
  const bool in_frontier =
      record.place() == proto::READY && !store.claims().Has(page);
  const uint8_t next = store.StepOf(page, record);
  if (in_frontier && next != step) {
    DeleteFrontierRow(store, edit, page, step);
    edit.Put(Column::kFrontier, keys::ActiveFrontier(next, page), {});
  }
  edit.PutMessage(Column::kPages, page, record);
}

void AddPage(Store& store, Edit& edit, const Found& url, absl::Time now) {
  proto::PageRecord record;
  record.set_version(1);
  record.set_cash(url.cash);
  record.set_depth(url.depth);
  record.set_redirects(url.redirects);
  record.set_found_ms(ToMillis(now));
  EnterFrontier(store, edit, url.page.bytes, record);
  edit.PutMessage(Column::kPages, url.page.bytes, record);
  edit.delta.pages += url.cash;
  ++edit.delta.pages_by_state[proto::NEW];
  ++edit.host_pages[std::string(HostPartOf(url.page.bytes))];
}

}  // namespace

absl::StatusOr<PutCounts> CrawlDb::AddFound(Edit& edit,
                                            absl::Span<const Found> urls,
                                            const Moment& moment,
                                            Admission* admission,
                                            bool known_gain) {
  auto records = store_->GetPages(PagesOf(urls));
  if (!records.ok()) return records.status();
  PutCounts counts;
  std::vector<Found> added;
  for (size_t i = 0; i < urls.size(); ++i) {
    std::optional<proto::PageRecord>& record = (*records)[i];
    if (record.has_value()) {
      ++counts.known;
      if (known_gain) {
        AddCash(*store_, edit, urls[i].page.bytes, *record, urls[i].cash,
                moment);
      } else {
        edit.delta.dropped[kKnownAtItsOwner] += urls[i].cash;
      }
      continue;
    }
    if (store_->IsBlocked(urls[i].page.bytes)) {
      ++counts.blocked;
      edit.delta.dropped[kBlockedByOperator] += urls[i].cash;
      ++edit.delta.dropped_urls;
      continue;
    }
    added.push_back(urls[i]);
  }
  if (admission != nullptr) {
    absl::StatusOr<std::vector<Found>> admitted =
        admission->Admit(edit, std::move(added));
    if (!admitted.ok()) return admitted.status();
    added = *std::move(admitted);
  }
  for (const Found& url : added) AddPage(*store_, edit, url, moment.now);
  counts.added = static_cast<int64_t>(added.size());
  return counts;
}

absl::StatusOr<PutCounts> CrawlDb::Inject(absl::Span<const PageKey> seeds,
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
  StripeLocks locks(*store_, pages);
  auto records = store_->GetPages(pages);
  if (!records.ok()) return records.status();
  Edit edit;
  PutCounts counts;
  counts.known = static_cast<int64_t>(seeds.size() - distinct.size());
  for (size_t i = 0; i < distinct.size(); ++i) {
    if ((*records)[i].has_value()) {
      ++counts.known;
      continue;
    }
    if (store_->IsBlocked(distinct[i].bytes)) {
      ++counts.blocked;
      continue;
    }
    ++counts.added;
    AddPage(*store_, edit, {.page = distinct[i], .cash = kSeedCash}, now);
    edit.delta.injected += kSeedCash;
  }
  if (store_->totals().Held() > kMostCash - edit.delta.injected) {
    return absl::OutOfRangeError(
        fmt::format("too many seeds: at most {} fit a site's ledger",
                    kMostCash / kSeedCash));
  }
  if (absl::Status status = store_->Commit(edit, /*sync=*/true); !status.ok()) {
    return status;
  }
  return counts;
}

absl::Status CrawlDb::AddReceived(Edit& edit, const Found& url) {
  if (url.cash < 0 || url.cash > kMostCash - edit.delta.received) {
    return absl::InvalidArgumentError("a found URL's cash is out of range");
  }
  if (!IsPageKey(url.page.bytes)) {
    return absl::InvalidArgumentError("a found URL has no page key");
  }
  edit.delta.received += url.cash;
  return absl::OkStatus();
}

absl::Status CrawlDb::AddTakenOver(Edit& edit, int64_t cash) {
  if (cash < 0 || cash > kMostCash - edit.delta.taken_over) {
    return absl::InvalidArgumentError("a page's cash is out of range");
  }
  edit.delta.taken_over += cash;
  return absl::OkStatus();
}

absl::Status CrawlDb::CheckRoomFor(int64_t received) const {
  if (received >= 0 && store_->totals().Held() <= kMostCash - received) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("more cash sent than a web can have");
}

absl::StatusOr<PutCounts> CrawlDb::PutIfAbsent(absl::Span<const Found> urls,
                                               const Moment& moment) {
  Edit edit;
  for (const Found& url : urls) {
    if (absl::Status s = AddReceived(edit, url); !s.ok()) return s;
  }
  if (absl::Status s = CheckRoomFor(edit.delta.received); !s.ok()) return s;
  const std::vector<Found> merged = SortedAndMerged({urls.begin(), urls.end()});
  StripeLocks locks(*store_, PagesOf(merged));
  absl::StatusOr<PutCounts> counts = AddFound(edit, merged, moment);
  if (!counts.ok()) return counts;
  if (absl::Status status = store_->Commit(edit, /*sync=*/false);
      !status.ok()) {
    return status;
  }
  return counts;
}

}  // namespace gannet::storage
