// How a page enters and leaves the frontier and the schedule: the rows that a
// move writes and the counts that it changes, in one place, so that no verb can
// write one without the other (invariant I1). Private to this room.
#pragma once

#include <algorithm>
#include <string_view>

#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

// `record` must be what the page will have (enter) or had (leave): the
// frontier's row is named by its score. REQUIRES, for all: the page's stripe is
// locked.

inline void EnterFrontier(Store& store, Edit& edit, std::string_view page,
                          proto::PageRecord& record) {
  record.set_place(proto::READY);
  record.clear_ready_ms();
  edit.Put(Column::kFrontier,
           keys::ActiveFrontier(store.StepOf(page, record), page), {});
  ++edit.delta.frontier_pages;
}

// Pages of a resting host may have been put aside or not: no record says which,
// so both rows are deleted (Claim puts aside without touching the record).
inline void DeleteFrontierRow(Store& store, Edit& edit, std::string_view page,
                              uint8_t step) {
  edit.Delete(Column::kFrontier, keys::ActiveFrontier(step, page));
  if (store.rests().MayHavePagesAside(HostPartOf(page))) {
    edit.Delete(Column::kFrontier, keys::RestingFrontier(step, page));
  }
}

inline void LeaveFrontier(Store& store, Edit& edit, std::string_view page,
                          const proto::PageRecord& record) {
  DeleteFrontierRow(store, edit, page, store.StepOf(page, record));
  --edit.delta.frontier_pages;
}

// What counts for the score: it may stop growing, but not wrap around.
inline void AddHistory(proto::PageRecord& record, int64_t cash) {
  constexpr int64_t kMost = int64_t{1} << 62;
  record.set_history(std::min(record.history(), kMost - cash) + cash);
}

// No earlier than the times that have a meaning of their own.
inline int64_t RealTime(int64_t ms) { return std::max(ms, kWakingMs + 1); }

inline void EnterSchedule(Edit& edit, std::string_view page,
                          proto::PageRecord& record, int64_t ready_ms) {
  ready_ms = RealTime(ready_ms);
  record.set_place(proto::SCHEDULED);
  record.set_ready_ms(ready_ms);
  edit.Put(Column::kSchedule, keys::ScheduledPage(ready_ms, page), {});
  edit.earliest_ready_ms = std::min(edit.earliest_ready_ms, ready_ms);
  ++edit.delta.scheduled_pages;
}

inline void LeaveSchedule(Edit& edit, std::string_view page,
                          const proto::PageRecord& record) {
  edit.Delete(Column::kSchedule, keys::ScheduledPage(record.ready_ms(), page));
  --edit.delta.scheduled_pages;
}

// Out of the open round, back to nowhere; the root's share returns to it.
inline void LeaveRound(Store& store, Edit& edit, std::string_view page) {
  const int64_t share = store.root_share();
  edit.delta.round -= share;
  edit.delta.root += share;
  edit.Delete(Column::kRounds, keys::FetchList(page));
  --edit.delta.round_pages;
  edit.unclaimed.emplace_back(page);
}

// Out of wherever it is; where its cash goes is for the caller to say.
inline void LeaveColumns(Store& store, Edit& edit, std::string_view page,
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
inline void LeavePlace(Store& store, Edit& edit, std::string_view page,
                       const proto::PageRecord& record) {
  LeaveColumns(store, edit, page, record);
  edit.delta.pages -= record.cash();
  edit.delta.root += record.cash();
}

// Into the place that the record names.
inline void EnterPlace(Store& store, Edit& edit, std::string_view page,
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

// OPIC: a page that waits for its turn keeps the cash; one that was fetched and
// is not due soon, or never again, counts it as history and passes it on to the
// root, where it is paid out with the next round.
inline bool KeepsCash(const proto::PageRecord& record, const Moment& moment) {
  switch (record.place()) {
    case proto::READY:
      return true;
    case proto::SCHEDULED:
      return record.state() != proto::FETCHED ||
             record.ready_ms() <= ToMillis(moment.soon);
    default:
      return false;
  }
}

// What a block makes of a record that is in no column (any more), and what it
// was before: PutBack's other half.
inline void MarkTakenOut(proto::PageRecord& record) {
  proto::BeforeBlock& before = *record.mutable_before_block();
  before.set_state(record.state());
  before.set_place(record.place());
  before.set_ready_ms(record.ready_ms());
  record.set_cash(0);
  record.clear_ready_ms();
  record.set_state(proto::BLOCKED);
  record.set_place(proto::FINISHED);
  record.set_finished_reason(kBlockedByOperator);
}

inline bool WasTakenOut(const proto::PageRecord& record) {
  return record.place() == proto::FINISHED &&
         record.finished_reason() == kBlockedByOperator;
}

inline void UnmarkTakenOut(proto::PageRecord& record) {
  record.clear_finished_reason();
  const proto::BeforeBlock before = record.before_block();
  if (record.has_before_block()) {
    record.set_state(before.state());
  } else if (record.visited_ms() == 0) {  // By an older version.
    record.set_state(proto::NEW);
  }
  record.set_place(before.place() == proto::SCHEDULED ? proto::SCHEDULED
                                                      : proto::READY);
  record.set_ready_ms(before.ready_ms());
  record.clear_before_block();
}

}  // namespace gannet::storage
