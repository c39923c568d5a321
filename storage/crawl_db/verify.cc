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

#include <set>

#include "absl/cleanup/cleanup.h"
#include "storage/crawl_db/changed_rows.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/hash128.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

constexpr size_t kMostNamed = 5;

// A set of rows as the sum of their hashes.
struct RowSum {
  absl::uint128 sum = 0;
  int64_t rows = 0;
  void Add(std::string_view row, uint64_t with) {
    sum += Hash128(row, with);
    ++rows;
  }
  bool operator==(const RowSum&) const = default;
};

std::string Readable(std::string_view page) {
  return std::string(SurtOf(page));
}

class Verifier {
 public:
  Verifier(Store& store, const rocksdb::Snapshot* at,
           const CrawlDb::LookAtPage& look)
      : store_(store), at_(at), look_(look) {}

  absl::Status Full();
  absl::Status Changed(const ChangedRows& changed);
  // What costs only the round's width; part of both.
  absl::Status RoundAndLedger();

  std::vector<Check> TakeChecks() { return std::move(checks_); }
  // Whether the caller's own look found nothing.
  bool looked_fine() const { return looked_fine_; }

 private:
  using Visit =
      std::function<absl::Status(std::string_view key, std::string_view value)>;

  absl::Status Scan(Column column, std::string_view prefix, const Visit& visit);
  absl::Status Has(Column column, std::string_view key, bool& has);
  // Why the page breaks I1; empty if it does not.
  absl::Status Misplaced(std::string_view page, const proto::PageRecord& record,
                         std::string& why);
  absl::Status ScanPages();
  absl::Status ScanIndexes();
  absl::Status ScanWaiting();
  absl::Status NameMisplaced(std::string& detail);

  void Report(std::string name, bool ok, std::string detail) {
    checks_.push_back({std::move(name), ok, std::move(detail)});
  }
  void Compare(const std::string& name, int64_t counted, int64_t booked) {
    Report(name, counted == booked,
           counted == booked
               ? fmt::format("{}", counted)
               : fmt::format("counted {}, booked {}", counted, booked));
  }

  Store& store_;
  const rocksdb::Snapshot* at_;
  const CrawlDb::LookAtPage& look_;
  bool looked_fine_ = true;
  std::vector<Check> checks_;
  Totals booked_;
  std::set<std::string> fetch_list_;

  // What the pages call for, and what is there.
  RowSum frontier_wanted_, frontier_found_;
  RowSum schedule_wanted_, schedule_found_;
  RowSum hosts_wanted_, hosts_found_;
  RowSum rests_wanted_, rests_found_;
  std::set<std::string> resting_hosts_;
  int64_t in_round_ = 0;
  Totals counted_;
};

absl::Status Verifier::Scan(Column column, std::string_view prefix,
                            const Visit& visit) {
  rocksdb::ReadOptions options;
  options.snapshot = at_;
  options.fill_cache = false;
  options.readahead_size = 1 << 20;
  std::unique_ptr<rocksdb::Iterator> it(
      store_.db().NewIterator(options, store_.column(column)));
  const rocksdb::Slice start(prefix.data(), prefix.size());
  for (it->Seek(start); it->Valid() && it->key().starts_with(start);
       it->Next()) {
    absl::Status status = visit({it->key().data(), it->key().size()},
                                {it->value().data(), it->value().size()});
    if (!status.ok()) return status;
  }
  return FromRocksDb(it->status(), "reading a column");
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
  if (bytes.ok() && !journal.ParseFromString(*bytes)) {
    return absl::DataLossError("the round's journal cannot be decoded");
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

absl::Status Verifier::ScanPages() {
  std::string host;
  int64_t pages_of_host = 0;
  proto::PageRecord record;
  const auto close_host = [&] {
    if (pages_of_host > 0) hosts_wanted_.Add(host, pages_of_host);
  };
  absl::Status status = Scan(Column::kPages, "", [&](auto page, auto value) {
    if (!record.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
      return absl::DataLossError(
          fmt::format("the record of {} cannot be decoded", Readable(page)));
    }
    if (look_ && !look_(page, record)) looked_fine_ = false;
    counted_.pages += record.cash();
    if (!proto::PageState_IsValid(record.state())) {
      return absl::DataLossError(fmt::format("{} has the unknown state {}",
                                             Readable(page), record.state()));
    }
    ++counted_.pages_by_state[record.state()];
    if (record.place() == proto::SCHEDULED) {
      schedule_wanted_.Add(page, record.ready_ms());
    } else if (record.place() == proto::FINISHED) {
      ++counted_.finished_pages;
    } else if (fetch_list_.contains(std::string(page))) {
      ++in_round_;
    } else {
      frontier_wanted_.Add(page, store_.StepOf(page, record));
    }
    const std::string_view page_host = HostPartOf(page);
    if (page_host != host) {
      close_host();
      host = page_host;
      pages_of_host = 0;
    }
    ++pages_of_host;
    return absl::OkStatus();
  });
  close_host();
  return status;
}

absl::Status Verifier::ScanIndexes() {
  int64_t ready_ms = 0;
  absl::Status status = Scan(Column::kSchedule, "", [&](auto key, auto) {
    std::string_view target;
    if (!keys::ParseSchedule(key, ready_ms, target)) {
      return absl::DataLossError("a row of the schedule cannot be decoded");
    }
    if (key[0] == 'p') {
      schedule_found_.Add(target, ready_ms);
    } else {
      rests_found_.Add(target, ready_ms);
      resting_hosts_.emplace(target);
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;

  int64_t lost_aside = 0;
  uint8_t step = 0;
  status = Scan(Column::kFrontier, "", [&](auto key, auto) {
    std::string_view page;
    std::string aside;
    if (keys::ParseActiveFrontier(key, step, page)) {
      frontier_found_.Add(page, step);
    } else if (keys::ParseRestingFrontier(key, step, aside)) {
      frontier_found_.Add(aside, step);
      // Nobody would ever bring it back.
      if (!resting_hosts_.contains(std::string(HostPartOf(aside)))) {
        ++lost_aside;
      }
    } else {
      return absl::DataLossError("a row of the frontier cannot be decoded");
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;

  proto::HostRecord host;
  status = Scan(Column::kHosts, "", [&](auto key, auto value) {
    const std::string_view name = key.substr(0, key.size() - 1);
    if (key.ends_with('n')) {
      const int64_t pages = DecodeCount(value);
      if (pages != 0) hosts_found_.Add(name, pages);
      return absl::OkStatus();
    }
    if (!host.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
      return absl::DataLossError("a host's record cannot be decoded");
    }
    if (host.rest_until_ms() != 0)
      rests_wanted_.Add(name, host.rest_until_ms());
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  Compare("I1 pages set aside for good", lost_aside, 0);
  Report("I1 every rest has its end", rests_wanted_ == rests_found_,
         fmt::format("{} hosts rest, {} in the schedule", rests_wanted_.rows,
                     rests_found_.rows));
  return absl::OkStatus();
}

absl::Status Verifier::ScanWaiting() {
  RowSum by_page, by_cash;
  proto::FoundUrl url;
  const auto parse = [](auto& message, std::string_view value) {
    return message.ParseFromArray(value.data(), static_cast<int>(value.size()))
               ? absl::OkStatus()
               : absl::DataLossError("a waiting URL cannot be decoded");
  };
  absl::Status status = Scan(Column::kDeferred, "u", [&](auto key, auto value) {
    if (absl::Status status = parse(url, value); !status.ok()) return status;
    by_page.Add(key.substr(1), url.cash());
    counted_.deferred += url.cash();
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  status = Scan(Column::kDeferred, "c", [&](auto key, auto) {
    int64_t cash = 0;
    std::string_view page;
    if (!keys::ParseDeferredByCash(key, cash, page)) {
      return absl::DataLossError("a row of deferred cannot be decoded");
    }
    by_cash.Add(page, cash);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  Compare("I4 deferred URLs", by_page.rows, booked_.deferred_urls);
  Report("I4 index of deferred URLs", by_page == by_cash,
         fmt::format("{} URLs, {} in the index", by_page.rows, by_cash.rows));
  Compare("I3 cash of deferred URLs", counted_.deferred, booked_.deferred);

  proto::OutboxBatch batch;
  status = Scan(Column::kOutbox, "", [&](auto key, auto value) {
    SiteId site{};
    std::string_view rest;
    if (!keys::ParseOutbox(key, site, rest)) {
      return absl::DataLossError("a row of the outbox cannot be decoded");
    }
    int64_t& urls = counted_.outbox_urls[site];
    if (key[0] != 's') {
      if (absl::Status status = parse(url, value); !status.ok()) return status;
      counted_.outbox += url.cash();
      ++urls;
    } else {
      if (absl::Status status = parse(batch, value); !status.ok()) {
        return status;
      }
      for (const auto& sent : batch.urls()) counted_.outbox += sent.cash();
      for (const auto& moved : batch.pages()) {
        counted_.outbox += moved.record().cash();
      }
      urls += batch.urls_size() + batch.pages_size();
    }
    // A batch that only says "complete" is of no URL.
    if (urls == 0) counted_.outbox_urls.erase(site);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  Report("I4 URLs in outboxes", counted_.outbox_urls == booked_.outbox_urls,
         fmt::format("{} sites", counted_.outbox_urls.size()));
  Compare("I3 cash of outboxes", counted_.outbox, booked_.outbox);
  return absl::OkStatus();
}

absl::Status Verifier::NameMisplaced(std::string& detail) {
  size_t named = 0;
  proto::PageRecord record;
  return Scan(Column::kPages, "", [&](auto page, auto value) {
    std::string why;
    record.ParseFromArray(value.data(), static_cast<int>(value.size()));
    if (named >= kMostNamed) return absl::OkStatus();
    absl::Status status = Misplaced(page, record, why);
    if (!why.empty()) {
      detail += "; " + why;
      ++named;
    }
    return status;
  });
}

absl::Status Verifier::Full() {
  for (absl::Status status : {ScanPages(), ScanIndexes(), ScanWaiting()}) {
    if (!status.ok()) return status;
  }
  const bool placed = frontier_wanted_ == frontier_found_ &&
                      schedule_wanted_ == schedule_found_ &&
                      in_round_ == static_cast<int64_t>(fetch_list_.size());
  std::string detail = fmt::format(
      "{} in the frontier (rows {}), {} scheduled (rows {}), {} in the open "
      "round (rows {}), {} finished",
      frontier_wanted_.rows, frontier_found_.rows, schedule_wanted_.rows,
      schedule_found_.rows, in_round_, fetch_list_.size(),
      counted_.finished_pages);
  if (!placed) {
    if (absl::Status status = NameMisplaced(detail); !status.ok()) {
      return status;
    }
  }
  Report("I1 every page in exactly one place", placed, std::move(detail));
  Compare("pages in the frontier", frontier_found_.rows,
          booked_.frontier_pages);
  Compare("pages in the schedule", schedule_found_.rows,
          booked_.scheduled_pages);
  Compare("finished pages", counted_.finished_pages, booked_.finished_pages);
  Report("pages by state", counted_.pages_by_state == booked_.pages_by_state,
         fmt::format("{} known, {} booked", counted_.KnownPages(),
                     booked_.KnownPages()));
  Report("pages by host", hosts_wanted_ == hosts_found_,
         fmt::format("{} hosts, {} booked", hosts_wanted_.rows,
                     hosts_found_.rows));
  Compare("I3 cash of pages", counted_.pages, booked_.pages);
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

}  // namespace

absl::StatusOr<std::vector<Check>> CrawlDb::Verify(bool full,
                                                   const LookAtPage& look) {
  const rocksdb::Snapshot* at = store_->db().GetSnapshot();
  absl::Cleanup release = [&] { store_->db().ReleaseSnapshot(at); };
  const uint64_t until = at->GetSequenceNumber();
  uint64_t since = 0;
  if (auto verified = store_->Get(Column::kMeta, keys::kVerified);
      verified.ok()) {
    since = static_cast<uint64_t>(DecodeCount(*verified));
  } else {
    full = true;
  }

  Verifier verifier(*store_, at, look);
  absl::Status status = verifier.RoundAndLedger();
  if (status.ok() && !full) {
    status = ForEachChanged(
        *store_, since, until,
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
    store_->Put(edit, Column::kMeta, keys::kVerified,
                EncodeCount(static_cast<int64_t>(until)));
    if (absl::Status s = store_->Commit(edit, /*sync=*/false); !s.ok())
      return s;
  }
  return checks;
}

}  // namespace gannet::storage
