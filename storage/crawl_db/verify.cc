// Verify: are the invariants true? I1 (every page in exactly one place) and I3
// (cash is conserved exactly), with all counts.
//
// The obvious way is to look up, for each page, the row that it should have and
// the rows that it must not have: four random reads a page. The full check
// needs none. It reads each column once, in order, and adds up a 128-bit hash
// of every row that the pages call for, and one of every row that is there. The
// two sums are equal if and only if the sets are (but for a chance of some
// 2^-128). Only when they differ does it go the obvious way, to name pages.
//
// The incremental check goes the obvious way for the pages and rows that the
// write-ahead log names as changed since the last check that passed.
//
// Everything is read at one snapshot, so that others may write meanwhile.
#include <fmt/format.h>

#include "storage/crawl_db/checks.h"
#include "storage/crawl_db/verifier.h"
#include "storage/engine/count.h"

namespace gannet::storage {

absl::Status Verifier::Scan(Column column, std::string_view prefix,
                            const Visit& visit) {
  const auto it = store_.Scan(
      column, prefix,
      {.at = at_, .read_ahead_bytes = 1 << 20, .fill_cache = false});
  for (it->Seek(prefix); it->Valid(); it->Next()) {
    absl::Status status = visit(it->key(), it->value());
    if (!status.ok()) return status;
  }
  return it->status();
}

absl::Status Verifier::Has(Column column, std::string_view key, bool& has) {
  const absl::Status status = store_.Get(column, key, at_).status();
  has = status.ok();
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

absl::Status Verifier::Misplaced(std::string_view page,
                                 const proto::PageRecord& record,
                                 std::string& why) {
  const uint8_t step = store_.StepOf(page, record);
  bool active = false, aside = false, open = false, scheduled = false;
  for (absl::Status status :
       {Has(Column::kFrontier, keys::ActiveFrontier(step, page), active),
        Has(Column::kFrontier, keys::RestingFrontier(step, page), aside),
        Has(Column::kRounds, keys::FetchList(page), open),
        Has(Column::kSchedule, keys::ScheduledPage(record.ready_ms(), page),
            scheduled)}) {
    if (!status.ok()) return status;
  }
  const int ready = active + aside + open;
  const bool right = record.place() == proto::READY ? ready == 1 && !scheduled
                     : record.place() == proto::SCHEDULED
                         ? ready == 0 && scheduled
                         : ready == 0 && !scheduled;
  if (!right) {
    why = fmt::format(
        "{} is {} but in frontier {}, aside {}, open round {}, schedule {}",
        Readable(page), proto::PagePlace_Name(record.place()), int{active},
        int{aside}, int{open}, int{scheduled});
  }
  return absl::OkStatus();
}

absl::Status Verifier::RoundAndLedger() {
  absl::StatusOr<std::string> bytes =
      store_.Get(Column::kMeta, keys::kTotals, at_);
  if (bytes.ok()) {
    proto::Totals stored;
    if (!stored.ParseFromString(*bytes)) {
      return absl::DataLossError("the ledger cannot be decoded");
    }
    booked_ = Totals::FromProto(stored);
  } else if (!absl::IsNotFound(bytes.status())) {
    return bytes.status();
  }
  proto::RoundJournal journal;
  bytes = store_.Get(Column::kRounds, keys::Journal(), at_);
  if (bytes.ok()) {
    if (!journal.ParseFromString(*bytes)) {
      return absl::DataLossError("the round's journal cannot be decoded");
    }
  } else if (!absl::IsNotFound(bytes.status())) {
    return bytes.status();
  }

  absl::Status status = Scan(Column::kRounds, "f", [&](auto key, auto) {
    fetch_list_.emplace(key.substr(1));
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  int64_t cash =
      journal.root_share() * static_cast<int64_t>(fetch_list_.size());
  proto::OutlinkSegment segment;
  status = Scan(Column::kRounds, "s", [&](auto, auto value) {
    if (!segment.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
      return absl::DataLossError("a page's outlinks cannot be decoded");
    }
    for (const std::string& target : segment.targets()) {
      // Targets up to the cursor are settled: their cash has moved on.
      if (journal.cursor().empty() || target > journal.cursor()) {
        cash += segment.cash_each();
      }
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  Compare("I1 pages of the open round",
          static_cast<int64_t>(fetch_list_.size()), booked_.round_pages);
  Compare("I3 cash of the open round", cash, booked_.round);
  Report("I3 ledger", booked_.AllCash() == booked_.injected,
         fmt::format("{} accounted for, {} injected", booked_.AllCash(),
                     booked_.injected));
  return absl::OkStatus();
}

absl::Status Verifier::Changed(const ChangedRows& changed) {
  size_t bad = 0;
  std::string detail = fmt::format("{} pages changed", changed.pages.size());
  const auto name = [&](const std::string& why) {
    if (!why.empty() && ++bad <= kMostNamed) detail += "; " + why;
  };
  for (const std::string& page : changed.pages) {
    absl::StatusOr<proto::PageRecord> record = store_.GetPage(page, at_);
    if (absl::IsNotFound(record.status())) continue;  // Forgotten.
    if (!record.ok()) return record.status();
    if (look_ && !look_(page, *record)) looked_fine_ = false;
    std::string why;
    absl::Status status = Misplaced(page, *record, why);
    if (!status.ok()) return status;
    name(why);
  }
  // Rows that were written and are still there must be the ones that their page
  // calls for: an old step, or the row of a forgotten page, would be seen here.
  for (const auto& [column, row, page] : changed.rows) {
    bool there = false;
    if (absl::Status status = Has(column, row, there); !status.ok()) {
      return status;
    }
    if (!there) continue;
    absl::StatusOr<proto::PageRecord> record = store_.GetPage(page, at_);
    if (absl::IsNotFound(record.status())) {
      name("a row names the unknown " + Readable(page));
      continue;
    }
    if (!record.ok()) return record.status();
    const uint8_t step = store_.StepOf(page, *record);
    const bool called_for =
        record->place() == proto::READY
            ? row == keys::ActiveFrontier(step, page) ||
                  row == keys::RestingFrontier(step, page) ||
                  row == keys::FetchList(page)
            : record->place() == proto::SCHEDULED &&
                  row == keys::ScheduledPage(record->ready_ms(), page);
    if (!called_for) name("a row too many for " + Readable(page));
  }
  Report("I1 every changed page in exactly one place", bad == 0, detail);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Check>> Checks::Verify(bool full,
                                                  const LookAtPage& look) {
  const std::unique_ptr<Snapshot> at = store_.engine().TakeSnapshot();
  const uint64_t until = at->number();
  uint64_t since = 0;
  if (auto verified = store_.Get(Column::kMeta, keys::kVerified);
      verified.ok()) {
    since = static_cast<uint64_t>(DecodeCount(*verified));
  } else {
    full = true;
  }

  Verifier verifier(store_, at.get(), look);
  absl::Status status = verifier.RoundAndLedger();
  if (status.ok() && !full) {
    status = ForEachChanged(
        store_, since, until,
        [&](const ChangedRows& changed) { return verifier.Changed(changed); });
    if (absl::IsNotFound(status)) {
      full = true;
      status = absl::OkStatus();
    }
  }
  if (status.ok() && full) status = verifier.Full();

  std::vector<Check> checks = verifier.TakeChecks();
  if (!status.ok()) {
    checks.push_back(
        {"every row can be read", false, std::string(status.message())});
  }
  bool ok = verifier.looked_fine();
  for (const Check& check : checks) ok = ok && check.ok;
  if (ok) {
    Edit edit;
    edit.Put(Column::kMeta, keys::kVerified,
             EncodeCount(static_cast<int64_t>(until)));
    if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  }
  return checks;
}

}  // namespace gannet::storage
