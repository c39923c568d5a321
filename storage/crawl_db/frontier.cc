// The frontier and the schedule: what generate reads.
//
// The simple idea: one index by score. Its keys are (255 - step, page), so that
// the best pages come first, and within a step a host's pages stand together.
// To take the top 20,000 is to read 20,000 neighbouring rows, however large the
// DB, and to add or move a page is a blind write: nothing about its host need
// be looked up.
//
// (The design had two levels, score -> host and host -> pages, with each host's
// best page kept in the first. That needs a seek into the second for every host
// that is touched, by Top and by each write that may change a host's best: with
// 100 times the pages there are 100 times the hosts, and the seeks no longer
// hit the cache. Hence one level for pages, and a second only for hosts that
// rest.)
//
// What this leaves out is a host that may give no (more) pages. One that has
// given `per_host` is skipped by a seek past its pages of this step: at most
// width / per_host such hosts, times the steps that Top reads. A host that
// rests may stay for weeks while its pages gather at the top, so when Top meets
// them, Claim puts them aside, under the host ('r' rows). Each is moved once,
// and back when the host wakes: best first, as many as the round is wide, the
// rest with the next round. Hosts that the caller forbids (they are about to
// move to another site, or have not wholly come from one) stay where they are
// and are stepped over: that lasts as long as a hand-off, and nothing has to be
// woken when it is over.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/hash128.h"
#include "storage/crawl_db/page_moves.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

std::string_view View(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

// Rows of one host that are stepped over before a seek is cheaper.
constexpr int kStepsBeforeSeek = 8;

rocksdb::ReadOptions LongRead() {
  rocksdb::ReadOptions options;
  options.readahead_size = 256 << 10;
  return options;
}

// Takes rows out of the frontier, in their order, if they are still there.
//
// Rows that stand next to each other leave as one range. A deletion row by row
// would leave a tombstone for each, at the very front where the next Top
// begins, and a large DB gets rid of them slowly: after 20 rounds Top stepped
// over 400,000 of them at 10 M pages (57 ms) and over none at 100 k (7 ms). A
// range is passed with one seek.
class FrontierTaker {
 public:
  // REQUIRES: all stripes are locked, so that no row comes or goes meanwhile.
  FrontierTaker(Store& store, Edit& edit)
      : store_(store),
        edit_(edit),
        it_(store.db().NewIterator(LongRead(),
                                   store.column(Column::kFrontier))) {}

  // False if there is no such row. REQUIRES: `row` is greater than the last.
  bool Take(std::string row) {
    if (!started_) it_->Seek(row);
    started_ = true;
    bool next_to_last = true;
    for (int steps = 0; it_->Valid() && View(it_->key()) < row; ++steps) {
      next_to_last = false;
      if (steps < kStepsBeforeSeek) {
        it_->Next();
      } else {
        it_->Seek(row);
      }
    }
    if (!next_to_last) EndRun();
    if (!it_->Valid() || View(it_->key()) != row) return false;
    run_.push_back(std::move(row));
    it_->Next();
    return true;
  }

  absl::Status Finish() {
    EndRun();
    return FromRocksDb(it_->status(), "reading the frontier");
  }

 private:
  // Below this, tombstones are cheaper than what a range costs every reader.
  static constexpr size_t kShortestRange = 64;

  void EndRun() {
    if (run_.size() < kShortestRange) {
      for (const std::string& row : run_) {
        store_.Delete(edit_, Column::kFrontier, row);
      }
    } else {
      edit_.batch.DeleteRange(store_.column(Column::kFrontier), run_.front(),
                              run_.back() + '\0');
    }
    run_.clear();
  }

  Store& store_;
  Edit& edit_;
  std::unique_ptr<rocksdb::Iterator> it_;
  bool started_ = false;
  std::vector<std::string> run_;  // Neighbours that leave together.
};

}  // namespace

absl::StatusOr<Selection> CrawlDb::Top(size_t width, size_t per_host,
                                       const HostFilter& may_crawl) {
  absl::flat_hash_map<absl::uint128, size_t> taken;  // By host.
  // Only a round that goes on after a kill has pages here; otherwise there are
  // just the tombstones of earlier rounds, and these took half of Top's time.
  if (store_->totals().round_pages > 0) {
    const rocksdb::ReadOptions options;
    std::unique_ptr<rocksdb::Iterator> it(
        store_->db().NewIterator(options, store_->column(Column::kRounds)));
    for (it->Seek("f"); it->Valid() && it->key().starts_with("f"); it->Next()) {
      ++taken[Hash128(HostPartOf(View(it->key()).substr(1)))];
    }
    if (!it->status().ok()) {
      return FromRocksDb(it->status(), "reading the open round");
    }
  }

  Selection selection;
  selection.pages.reserve(width);
  taken.reserve(width);
  absl::flat_hash_map<absl::uint128, bool> may;  // By host.
  const auto is_allowed = [&](std::string_view host, absl::uint128 hash) {
    if (!may_crawl) return true;
    const auto [it, is_new] = may.try_emplace(hash, false);
    if (is_new) it->second = may_crawl(host);
    return it->second;
  };
  const bool somebody_rests = store_->AnyHostHasPagesAside();
  std::unique_ptr<rocksdb::Iterator> it(
      store_->db().NewIterator(LongRead(), store_->column(Column::kFrontier)));
  int stepped_over = 0;
  it->Seek("a");
  while (it->Valid() && selection.pages.size() < width) {
    uint8_t step = 0;
    std::string_view page;
    if (it->key()[0] != 'a') break;
    if (!keys::ParseActiveFrontier(View(it->key()), step, page)) {
      return absl::DataLossError("a row of the frontier cannot be decoded");
    }
    const std::string_view host = HostPartOf(page);
    bool rests = false;
    if (somebody_rests) {
      MutexLock lock(&store_->stripe_mutex(Store::StripeOf(host)));
      rests = store_->IsResting(host);
    }
    if (rests && selection.resting.size() < width) {
      selection.resting.push_back({PageKey{std::string(page)}, step});
      it->Next();
      continue;
    }
    if (!rests) {
      const absl::uint128 hash = Hash128(host);
      size_t& count = taken[hash];
      if (count < per_host && is_allowed(host, hash)) {
        ++count;
        stepped_over = 0;
        selection.pages.push_back({PageKey{std::string(page)}, step});
        it->Next();
        continue;
      }
    }
    if (++stepped_over < kStepsBeforeSeek) {
      it->Next();
    } else {
      stepped_over = 0;
      it->Seek(keys::After(keys::ActiveFrontier(step, host)));
    }
  }
  if (!it->status().ok()) {
    return FromRocksDb(it->status(), "reading the frontier");
  }
  return selection;
}

absl::StatusOr<int64_t> CrawlDb::Claim(const Selection& selection) {
  StripeLocks locks(*store_);
  const proto::RoundJournal journal = store_->journal();
  if (journal.phase() != proto::GENERATE || journal.root_has_paid()) {
    return absl::FailedPreconditionError(
        "pages are claimed only while a round is being generated");
  }
  Edit edit;
  {
    FrontierTaker taker(*store_, edit);
    for (const FrontierPage& p : selection.pages) {
      // A host may have gone to rest since Top looked.
      if (store_->IsResting(HostPartOf(p.page.bytes)) ||
          !taker.Take(keys::ActiveFrontier(p.step, p.page.bytes))) {
        continue;
      }
      store_->Put(edit, Column::kRounds, keys::FetchList(p.page.bytes), {});
      edit.claimed.push_back(p.page.bytes);
    }
    if (absl::Status status = taker.Finish(); !status.ok()) return status;
  }
  const auto claimed = static_cast<int64_t>(edit.claimed.size());
  edit.delta.frontier_pages -= claimed;
  edit.delta.round_pages += claimed;
  if (absl::Status status = MoveAside(edit, selection.resting); !status.ok()) {
    return status;
  }
  if (absl::Status status = store_->Commit(edit, /*sync=*/false);
      !status.ok()) {
    return status;
  }
  // A range hides rows of tables, which are passed with a seek, but within one
  // write buffer the rows that it covers are stepped over one by one: with a
  // large round's rows still there, each Top would pay for all since the last
  // flush.
  constexpr int64_t kWorthAFlush = 4096;
  if (claimed >= kWorthAFlush) {
    rocksdb::FlushOptions flush;
    flush.wait = false;
    flush.allow_write_stall = true;  // Do not wait for room either.
    const rocksdb::Status flushed =
        store_->db().Flush(flush, store_->column(Column::kFrontier));
    if (!flushed.ok()) return FromRocksDb(flushed, "flushing the frontier");
  }
  return claimed;
}

absl::Status CrawlDb::MoveAside(Edit& edit,
                                absl::Span<const FrontierPage> resting) {
  FrontierTaker taker(*store_, edit);
  for (const FrontierPage& p : resting) {
    if (store_->IsResting(HostPartOf(p.page.bytes)) &&
        taker.Take(keys::ActiveFrontier(p.step, p.page.bytes))) {
      store_->Put(edit, Column::kFrontier,
                  keys::RestingFrontier(p.step, p.page.bytes), {});
    }
  }
  return taker.Finish();
}

absl::Status CrawlDb::PutAside(const Selection& selection) {
  StripeLocks locks(*store_);
  Edit edit;
  if (absl::Status status = MoveAside(edit, selection.resting); !status.ok()) {
    return status;
  }
  return store_->Commit(edit, /*sync=*/false);
}

absl::Status CrawlDb::Release(absl::Span<const PageKey> pages) {
  std::vector<PageKey> sorted(pages.begin(), pages.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const std::vector<std::string_view> views = PagesOf(sorted);
  StripeLocks locks(*store_, views);
  auto records = store_->GetPages(views);
  if (!records.ok()) return records.status();
  const int64_t share = store_->journal().root_share();
  Edit edit;
  int64_t awake = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const std::string& page = sorted[i].bytes;
    if (!(*records)[i].has_value() || !store_->IsClaimed(page)) continue;
    if (!store_->IsResting(HostPartOf(page))) ++awake;
    proto::PageRecord& record = *(*records)[i];
    record.set_cash(record.cash() + share);
    edit.delta.round -= share;
    edit.delta.pages += share;
    store_->Delete(edit, Column::kRounds, keys::FetchList(page));
    --edit.delta.round_pages;
    edit.unclaimed.push_back(page);
    EnterFrontier(*store_, edit, page, record);
    store_->PutMessage(edit, Column::kPages, page, record);
  }
  edit.counts.set_released(static_cast<int64_t>(edit.unclaimed.size()));
  edit.counts.set_released_awake(awake);
  return store_->Commit(edit, /*sync=*/false);
}

// Brings back the best pages that a host has aside. With the last of them its
// rest is over; until then it is waking.
absl::StatusOr<int64_t> CrawlDb::WakeHost(Edit& edit, const HostKey& host,
                                          int64_t most) {
  int64_t brought_back = 0;
  const std::string prefix = keys::RestingPrefix(host.bytes);
  std::unique_ptr<rocksdb::Iterator> aside(store_->db().NewIterator(
      rocksdb::ReadOptions(), store_->column(Column::kFrontier)));
  for (aside->Seek(prefix);
       aside->Valid() && aside->key().starts_with(prefix) &&
       brought_back < most;
       aside->Next()) {
    uint8_t step = 0;
    std::string page;
    if (!keys::ParseRestingFrontier(View(aside->key()), step, page)) {
      return absl::DataLossError("a row of the frontier cannot be decoded");
    }
    store_->Delete(edit, Column::kFrontier, View(aside->key()));
    store_->Put(edit, Column::kFrontier, keys::ActiveFrontier(step, page), {});
    ++brought_back;
  }
  if (!aside->status().ok()) {
    return FromRocksDb(aside->status(), "reading the frontier");
  }
  const bool more = aside->Valid() && aside->key().starts_with(prefix);
  absl::StatusOr<proto::HostRecord> record = GetHost(host);
  if (!record.ok()) return record.status();
  record->set_rest_until_ms(more ? kWakingMs : 0);
  absl::Status status = AddHost(edit, {host, *record}, /*by_wake=*/true);
  if (!status.ok()) return status;
  return brought_back;
}

absl::StatusOr<int64_t> CrawlDb::WakeDue(absl::Time now, int64_t most,
                                         int64_t per_host) {
  const int64_t now_ms = ToMillis(now);
  StripeLocks locks(*store_);
  Edit edit;
  int64_t woken = 0;
  int64_t floor_ms = std::numeric_limits<int64_t>::max();
  std::unique_ptr<rocksdb::Iterator> it(
      store_->db().NewIterator(LongRead(), store_->column(Column::kSchedule)));

  std::vector<std::string> pages;
  for (it->Seek(keys::ScheduledPage(store_->schedule_floor_ms(), {}));
       it->Valid(); it->Next()) {
    int64_t ready_ms = 0;
    std::string_view page;
    if (!keys::ParseSchedule(View(it->key()), ready_ms, page)) break;
    if (ready_ms > now_ms || woken >= most) {
      floor_ms = ready_ms;
      break;
    }
    pages.emplace_back(page);
    ++woken;
  }
  if (!it->status().ok()) {
    return FromRocksDb(it->status(), "reading the schedule");
  }
  std::sort(pages.begin(), pages.end());
  auto records = store_->GetPages({pages.begin(), pages.end()});
  if (!records.ok()) return records.status();
  for (size_t i = 0; i < pages.size(); ++i) {
    if (!(*records)[i].has_value()) {
      return absl::DataLossError(
          "the schedule names an unknown page; run "
          "'gannet verify --full'");
    }
    proto::PageRecord& record = *(*records)[i];
    LeaveSchedule(*store_, edit, pages[i], record);
    EnterFrontier(*store_, edit, pages[i], record);
    store_->PutMessage(edit, Column::kPages, pages[i], record);
  }

  // Rests that have just ended come before hosts that are waking since earlier
  // rounds: a host with a million pages aside must not keep the others asleep.
  int64_t brought_back = 0;
  for (const auto& [from_ms, to_ms] :
       {std::pair{kWakingMs + 1, now_ms}, std::pair{int64_t{0}, kWakingMs}}) {
    for (it->Seek(keys::ScheduledHost(from_ms, {}));
         it->Valid() && it->key().starts_with("h"); it->Next()) {
      int64_t until_ms = 0;
      std::string_view host;
      if (!keys::ParseSchedule(View(it->key()), until_ms, host)) break;
      if (until_ms > to_ms || brought_back >= most) break;
      absl::StatusOr<int64_t> pages =
          WakeHost(edit, HostKey{std::string(host)},
                   std::min(per_host, most - brought_back));
      if (!pages.ok()) return pages.status();
      brought_back += *pages;
    }
    if (!it->status().ok()) {
      return FromRocksDb(it->status(), "reading the schedule");
    }
  }
  if (absl::Status status = store_->Commit(edit, /*sync=*/false);
      !status.ok()) {
    return status;
  }
  store_->SetScheduleFloor(floor_ms);
  return woken + brought_back;
}

// A rest's end matters only if a page waits for it: the host's other pages are
// scheduled for times of their own.
absl::StatusOr<std::optional<absl::Time>> CrawlDb::NextDue() {
  std::optional<absl::Time> due;
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(
      rocksdb::ReadOptions(), store_->column(Column::kSchedule)));
  int64_t ready_ms = 0;
  std::string_view target;
  it->Seek(keys::ScheduledPage(store_->schedule_floor_ms(), {}));
  if (it->Valid() && it->key().starts_with("p") &&
      keys::ParseSchedule(View(it->key()), ready_ms, target)) {
    due = absl::FromUnixMillis(ready_ms);
  }
  if (store_->totals().frontier_pages > 0) {
    std::unique_ptr<rocksdb::Iterator> aside(store_->db().NewIterator(
        rocksdb::ReadOptions(), store_->column(Column::kFrontier)));
    for (it->Seek(keys::ScheduledHost(0, {}));
         it->Valid() && it->key().starts_with("h"); it->Next()) {
      if (!keys::ParseSchedule(View(it->key()), ready_ms, target)) break;
      const absl::Time ready = absl::FromUnixMillis(ready_ms);
      if (due.has_value() && *due <= ready) break;
      const std::string prefix = keys::RestingPrefix(target);
      aside->Seek(prefix);
      if (!aside->Valid() || !aside->key().starts_with(prefix)) continue;
      due = ready;
      break;
    }
    if (!aside->status().ok()) {
      return FromRocksDb(aside->status(), "reading the frontier");
    }
  }
  if (!it->status().ok()) {
    return FromRocksDb(it->status(), "reading the schedule");
  }
  return due;
}

}  // namespace gannet::storage
