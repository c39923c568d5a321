#include "storage/crawl_db/page_rows.h"

#include <utility>

#include "storage/crawl_db/admission.h"
#include "storage/crawl_db/page_record.h"
#include "storage/crawl_db/sorted.h"

namespace gannet::storage {
namespace {

// Pages of a resting host may have been put aside or not: no record says which,
// so both rows are deleted (Claim puts aside without touching the record).
void DeleteFrontierRow(Store& store, Edit& edit, std::string_view page,
                       uint8_t step)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes()) {
  edit.Delete(Column::kFrontier, keys::ActiveFrontier(step, page));
  if (store.rests().MayHavePagesAside(HostPartOf(page))) {
    edit.Delete(Column::kFrontier, keys::RestingFrontier(step, page));
  }
}

void LeaveFrontier(Store& store, Edit& edit, std::string_view page,
                   const proto::PageRecord& record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes()) {
  DeleteFrontierRow(store, edit, page, store.StepOf(page, record));
  --edit.delta.frontier_pages;
}

// Takes the page out of the open round, into no column; the root's share
// returns to the root.
void LeaveRound(Store& store, Edit& edit, std::string_view page)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes()) {
  const int64_t share = store.root_share();
  edit.delta.round -= share;
  edit.delta.root += share;
  edit.Delete(Column::kRounds, keys::FetchList(page));
  --edit.delta.round_pages;
  edit.unclaimed.emplace_back(page);
}

void AddCash(Store& store, Edit& edit, std::string_view page,
             proto::PageRecord& record, int64_t cash, const Moment& moment)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes()) {
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

// By page; what comes twice is one.
std::vector<proto::MovedPage> SortedAndMerged(
    std::vector<proto::MovedPage> pages) {
  std::stable_sort(
      pages.begin(), pages.end(),
      [](const auto& a, const auto& b) { return a.page() < b.page(); });
  std::vector<proto::MovedPage> merged;
  for (proto::MovedPage& page : pages) {
    if (!merged.empty() && merged.back().page() == page.page()) {
      *merged.back().mutable_record() =
          Merged(merged.back().record(), page.record());
    } else {
      merged.push_back(std::move(page));
    }
  }
  return merged;
}

// Cash that a page in that place does not keep goes to the root.
void PassOnCash(Edit& edit, proto::PageRecord& record) {
  AddHistory(record, record.cash());
  edit.delta.root += record.cash();
  record.set_cash(0);
}

}  // namespace

void EnterFrontier(Store& store, Edit& edit, std::string_view page,
                   proto::PageRecord& record) {
  record.set_place(proto::READY);
  record.clear_ready_ms();
  edit.Put(Column::kFrontier,
           keys::ActiveFrontier(store.StepOf(page, record), page), {});
  ++edit.delta.frontier_pages;
}

void EnterSchedule(Edit& edit, std::string_view page, proto::PageRecord& record,
                   int64_t ready_ms) {
  ready_ms = RealTime(ready_ms);
  record.set_place(proto::SCHEDULED);
  record.set_ready_ms(ready_ms);
  edit.Put(Column::kSchedule, keys::ScheduledPage(ready_ms, page), {});
  edit.earliest_ready_ms = std::min(edit.earliest_ready_ms, ready_ms);
  ++edit.delta.scheduled_pages;
}

void LeaveSchedule(Edit& edit, std::string_view page,
                   const proto::PageRecord& record) {
  edit.Delete(Column::kSchedule, keys::ScheduledPage(record.ready_ms(), page));
  --edit.delta.scheduled_pages;
}

// Removes the page from where it is; the caller decides where its cash goes.
void LeaveColumns(Store& store, Edit& edit, std::string_view page,
                  const proto::PageRecord& record) {
  if (record.place() == proto::SCHEDULED) {
    LeaveSchedule(edit, page, record);
  } else if (record.place() == proto::FINISHED) {
    --edit.delta.finished_pages;
  } else if (store.claims().Has(page)) {
    LeaveRound(store, edit, page);
  } else {
    LeaveFrontier(store, edit, page, record);
  }
}

// The same, and its cash goes to the root.
void LeavePlace(Store& store, Edit& edit, std::string_view page,
                const proto::PageRecord& record) {
  LeaveColumns(store, edit, page, record);
  edit.delta.pages -= record.cash();
  edit.delta.root += record.cash();
}

// Puts the page where the record says.
void EnterPlace(Store& store, Edit& edit, std::string_view page,
                proto::PageRecord& record) {
  if (record.place() == proto::READY) {
    EnterFrontier(store, edit, page, record);
  } else if (record.place() == proto::SCHEDULED) {
    EnterSchedule(edit, page, record, record.ready_ms());
  } else {
    record.clear_ready_ms();
    ++edit.delta.finished_pages;
  }
}

void AddPage(Store& store, Edit& edit, const FoundUrl& url, absl::Time now) {
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

absl::StatusOr<PutCounts> AddFound(Store& store, Edit& edit,
                                   absl::Span<const FoundUrl> urls,
                                   const Moment& moment, Admission* admission,
                                   bool known_gain) {
  auto records = store.GetPages(PagesOf(urls));
  if (!records.ok()) return records.status();
  PutCounts counts;
  std::vector<FoundUrl> added;
  for (size_t i = 0; i < urls.size(); ++i) {
    std::optional<proto::PageRecord>& record = (*records)[i];
    if (record.has_value()) {
      ++counts.known;
      if (known_gain) {
        AddCash(store, edit, urls[i].page.bytes, *record, urls[i].cash, moment);
      } else {
        edit.delta.dropped[kKnownAtItsOwner] += urls[i].cash;
      }
      continue;
    }
    if (store.IsBlocked(urls[i].page.bytes)) {
      ++counts.blocked;
      edit.delta.dropped[kBlockedByOperator] += urls[i].cash;
      ++edit.delta.dropped_urls;
      continue;
    }
    added.push_back(urls[i]);
  }
  if (admission != nullptr) {
    absl::StatusOr<std::vector<FoundUrl>> admitted =
        admission->Admit(edit, std::move(added));
    if (!admitted.ok()) return admitted.status();
    added = *std::move(admitted);
  }
  for (const FoundUrl& url : added) AddPage(store, edit, url, moment.now);
  counts.added = static_cast<int64_t>(added.size());
  return counts;
}

absl::StatusOr<int64_t> AddMoved(Store& store, Edit& edit,
                                 std::vector<proto::MovedPage> moved,
                                 const Moment& moment) {
  const std::vector<proto::MovedPage> pages = SortedAndMerged(std::move(moved));
  std::vector<std::string_view> keys;
  for (const proto::MovedPage& page : pages) keys.push_back(page.page());
  auto records = store.GetPages(keys);
  if (!records.ok()) return records.status();
  for (size_t i = 0; i < pages.size(); ++i) {
    const std::string& page = pages[i].page();
    proto::PageRecord record = pages[i].record();
    // It was blocked at the other site, and is not blocked here, or not yet.
    if (WasTakenOut(record) && !store.IsBlocked(page)) UnmarkTakenOut(record);
    const bool is_known = (*records)[i].has_value();
    if (is_known) {
      proto::PageRecord& known = *(*records)[i];
      if (store.claims().Has(page)) {  // Its visit is under way.
        known.set_cash(known.cash() + record.cash());
        AddHistory(known, record.history());
        edit.delta.pages += record.cash();
        edit.PutMessage(Column::kPages, page, known);
        continue;
      }
      LeaveColumns(store, edit, page, known);
      --edit.delta.pages_by_state[known.state()];
      edit.delta.pages -= known.cash();
      record = Merged(known, record);
    } else {
      ++edit.host_pages[std::string(HostPartOf(page))];
    }
    if (store.IsBlocked(page) && record.place() != proto::FINISHED) {
      edit.delta.root += record.cash();
      MarkTakenOut(record);
    } else if (is_known ? !KeepsCash(record, moment)
                        : record.place() == proto::FINISHED) {
      PassOnCash(edit, record);
    }
    edit.delta.pages += record.cash();
    ++edit.delta.pages_by_state[record.state()];
    EnterPlace(store, edit, page, record);
    edit.PutMessage(Column::kPages, page, record);
  }
  return static_cast<int64_t>(pages.size());
}

}  // namespace gannet::storage
