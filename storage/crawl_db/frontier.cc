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
#include "storage/crawl_db/frontier.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "storage/crawl_db/hash128.h"
#include "storage/crawl_db/host_rows.h"
#include "storage/crawl_db/page_rows.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

// Rows of one host that are stepped over before a seek is cheaper.
constexpr int kStepsBeforeSeek = 8;

// Records that CountLater() reads in one go.
constexpr size_t kPagesAtOnce = 1000;

constexpr ReadOptions kLongRead = {.read_ahead_bytes = 256 << 10};

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
      : edit_(edit), it_(store.Scan(Column::kFrontier, "a", kLongRead)) {}

  // False if there is no such row. REQUIRES: `row` is greater than the last.
  bool TakeOut(std::string row) {
    if (!started_) it_->Seek(row);
    started_ = true;
    bool next_to_last = true;
    for (int steps = 0; it_->Valid() && it_->key() < row; ++steps) {
      next_to_last = false;
      if (steps < kStepsBeforeSeek) {
        it_->Next();
      } else {
        it_->Seek(row);
      }
    }
    if (!next_to_last) EndRun();
    if (!it_->Valid() || it_->key() != row) return false;
    run_.push_back(std::move(row));
    it_->Next();
    return true;
  }

  absl::Status Finish() {
    EndRun();
    return it_->status();
  }

 private:
  // Below this, tombstones are cheaper than what a range costs every reader.
  static constexpr size_t kShortestRange = 64;

  void EndRun() {
    if (run_.size() < kShortestRange) {
      for (const std::string& row : run_) {
        edit_.Delete(Column::kFrontier, row);
      }
    } else {
      edit_.batch.DeleteRange(Column::kFrontier, run_.front(),
                              run_.back() + '\0');
    }
    run_.clear();
  }

  Edit& edit_;
  std::unique_ptr<Cursor> it_;
  bool started_ = false;
  std::vector<std::string> run_;  // Neighbours that leave together.
};

// Puts pages of resting hosts aside, if they are still where they were seen.
absl::Status MoveAside(Store& store, Edit& edit,
                       absl::Span<const FrontierPage> resting)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes()) {
  FrontierTaker taker(store, edit);
  std::string last;
  for (const FrontierPage& p : resting) {
    const std::string_view host = HostPartOf(p.page.bytes);
    if (store.rests().IsResting(host) &&
        taker.TakeOut(keys::ActiveFrontier(p.step, p.page.bytes))) {
      edit.Put(Column::kFrontier, keys::RestingFrontier(p.step, p.page.bytes),
               {});
      // A host's pages mostly stand together.
      if (host != last) edit.aside.emplace(last = host);
    }
  }
  return taker.Finish();
}

// Brings back the best pages that a host has aside. With the last of them its
// rest is over; until then it is waking.
absl::StatusOr<int64_t> WakeHost(Store& store, Edit& edit, const HostKey& host,
                                 int64_t most)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes()) {
  int64_t brought_back = 0;
  const std::string prefix = keys::RestingPrefix(host.bytes);
  const auto aside = store.Scan(Column::kFrontier, prefix);
  for (aside->Seek(prefix); aside->Valid() && brought_back < most;
       aside->Next()) {
    uint8_t step = 0;
    std::string page;
    if (!keys::ParseRestingFrontier(aside->key(), step, page)) {
      return absl::DataLossError("a row of the frontier cannot be decoded");
    }
    edit.Delete(Column::kFrontier, aside->key());
    edit.Put(Column::kFrontier, keys::ActiveFrontier(step, page), {});
    ++brought_back;
  }
  if (!aside->status().ok()) return aside->status();
  const bool more = aside->Valid();
  absl::StatusOr<proto::HostRecord> record = GetHost(store, host);
  if (!record.ok()) return record.status();
  record->set_rest_until_ms(more ? kWakingMs : 0);
  absl::Status status = AddHost(store, edit, {host, *record}, /*by_wake=*/true);
  if (!status.ok()) return status;
  return brought_back;
}

}  // namespace

absl::StatusOr<Selection> Frontier::Top(size_t width, size_t per_host,
                                        const HostFilter& may_crawl) {
  absl::flat_hash_map<absl::uint128, size_t> taken;  // By host.
  // Only a round that goes on after a kill has pages here; otherwise there are
  // just the tombstones of earlier rounds, and these took half of Top's time.
  if (store_.totals().round_pages > 0) {
    const auto it = store_.Scan(Column::kRounds, "f");
    for (it->Seek("f"); it->Valid(); it->Next()) {
      ++taken[Hash128(HostPartOf(it->key().substr(1)))];
    }
    if (!it->status().ok()) return it->status();
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
  const auto it = store_.Scan(Column::kFrontier, "a", kLongRead);
  int stepped_over = 0;
  it->Seek("a");
  while (it->Valid() && selection.pages.size() < width) {
    uint8_t step = 0;
    std::string_view page;
    if (!keys::ParseActiveFrontier(it->key(), step, page)) {
      return absl::DataLossError("a row of the frontier cannot be decoded");
    }
    const std::string_view host = HostPartOf(page);
    const bool rests = store_.rests().IsResting(host);
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
      it->Seek(AfterPrefix(keys::ActiveFrontier(step, host)));
    }
  }
  if (!it->status().ok()) return it->status();
  return selection;
}

absl::StatusOr<int64_t> Frontier::Claim(const Selection& selection) {
  StripeLocks locks(store_.stripes());
  const proto::RoundJournal journal = store_.journal();
  if (journal.phase() != proto::GENERATE || journal.root_has_paid()) {
    return absl::FailedPreconditionError(
        "pages are claimed only while a round is being generated");
  }
  Edit edit;
  {
    FrontierTaker taker(store_, edit);
    for (const FrontierPage& p : selection.pages) {
      // A host may have gone to rest since Top looked.
      if (store_.rests().IsResting(HostPartOf(p.page.bytes)) ||
          !taker.TakeOut(keys::ActiveFrontier(p.step, p.page.bytes))) {
        continue;
      }
      edit.Put(Column::kRounds, keys::FetchList(p.page.bytes), {});
      edit.claimed.push_back(p.page.bytes);
    }
    if (absl::Status status = taker.Finish(); !status.ok()) return status;
  }
  const auto claimed = static_cast<int64_t>(edit.claimed.size());
  edit.delta.frontier_pages -= claimed;
  edit.delta.round_pages += claimed;
  if (absl::Status status = MoveAside(store_, edit, selection.resting);
      !status.ok()) {
    return status;
  }
  if (absl::Status status = store_.Commit(edit); !status.ok()) {
    return status;
  }
  // A range hides rows of tables, which are passed with a seek, but within one
  // write buffer the rows that it covers are stepped over one by one: with a
  // large round's rows still there, each Top would pay for all since the last
  // flush.
  constexpr int64_t kWorthAFlush = 4096;
  if (claimed >= kWorthAFlush) {
    absl::Status flushed = store_.engine().Flush(Column::kFrontier);
    if (!flushed.ok()) return flushed;
  }
  return claimed;
}

absl::Status Frontier::PutAside(const Selection& selection) {
  StripeLocks locks(store_.stripes());
  Edit edit;
  if (absl::Status status = MoveAside(store_, edit, selection.resting);
      !status.ok()) {
    return status;
  }
  return store_.Commit(edit);
}

absl::Status Frontier::Release(absl::Span<const PageKey> pages) {
  std::vector<PageKey> sorted(pages.begin(), pages.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const std::vector<std::string_view> views = PagesOf(sorted);
  StripeLocks locks(store_.stripes(), views);
  auto records = store_.GetPages(views);
  if (!records.ok()) return records.status();
  const int64_t share = store_.root_share();
  Edit edit;
  int64_t awake = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const std::string& page = sorted[i].bytes;
    if (!(*records)[i].has_value() || !store_.claims().Has(page)) continue;
    if (!store_.rests().IsResting(HostPartOf(page))) ++awake;
    proto::PageRecord& record = *(*records)[i];
    record.set_cash(record.cash() + share);
    edit.delta.round -= share;
    edit.delta.pages += share;
    edit.Delete(Column::kRounds, keys::FetchList(page));
    --edit.delta.round_pages;
    edit.unclaimed.push_back(page);
    EnterFrontier(store_, edit, page, record);
    edit.PutMessage(Column::kPages, page, record);
  }
  edit.counts.set_released(static_cast<int64_t>(edit.unclaimed.size()));
  edit.counts.set_released_awake(awake);
  return store_.Commit(edit);
}

absl::StatusOr<int64_t> Frontier::WakeDue(absl::Time now, int64_t most,
                                          int64_t per_host) {
  const int64_t now_ms = ToMillis(now);
  StripeLocks locks(store_.stripes());
  Edit edit;
  int64_t woken = 0;
  int64_t floor_ms = std::numeric_limits<int64_t>::max();
  const auto it = store_.Scan(Column::kSchedule, "p", kLongRead);

  std::vector<std::string> pages;
  for (it->Seek(keys::ScheduledPage(store_.schedule_floor_ms(), {}));
       it->Valid(); it->Next()) {
    int64_t ready_ms = 0;
    std::string_view page;
    if (!keys::ParseSchedule(it->key(), ready_ms, page)) break;
    if (ready_ms > now_ms || woken >= most) {
      floor_ms = ready_ms;
      break;
    }
    pages.emplace_back(page);
    ++woken;
  }
  if (!it->status().ok()) return it->status();
  std::sort(pages.begin(), pages.end());
  auto records = store_.GetPages({pages.begin(), pages.end()});
  if (!records.ok()) return records.status();
  for (size_t i = 0; i < pages.size(); ++i) {
    if (!(*records)[i].has_value()) {
      return absl::DataLossError(
          "the schedule names an unknown page; run "
          "'gannet verify --full'");
    }
    proto::PageRecord& record = *(*records)[i];
    LeaveSchedule(edit, pages[i], record);
    EnterFrontier(store_, edit, pages[i], record);
    edit.PutMessage(Column::kPages, pages[i], record);
  }

  // Rests that have just ended come before hosts that are waking since earlier
  // rounds: a host with a million pages aside must not keep the others asleep.
  int64_t brought_back = 0;
  for (const auto& [from_ms, to_ms] :
       {std::pair{kWakingMs + 1, now_ms}, std::pair{int64_t{0}, kWakingMs}}) {
    const auto rest = store_.Scan(Column::kSchedule, "h");
    for (rest->Seek(keys::ScheduledHost(from_ms, {})); rest->Valid();
         rest->Next()) {
      int64_t until_ms = 0;
      std::string_view host;
      if (!keys::ParseSchedule(rest->key(), until_ms, host)) break;
      if (until_ms > to_ms || brought_back >= most) break;
      absl::StatusOr<int64_t> pages =
          WakeHost(store_, edit, HostKey{std::string(host)},
                   std::min(per_host, most - brought_back));
      if (!pages.ok()) return pages.status();
      brought_back += *pages;
    }
    if (!rest->status().ok()) return rest->status();
  }
  if (absl::Status status = store_.Commit(edit); !status.ok()) {
    return status;
  }
  store_.SetScheduleFloor(floor_ms);
  return woken + brought_back;
}

// A rest's end matters only if a page waits for it: the host's other pages are
// scheduled for times of their own.
absl::StatusOr<std::optional<absl::Time>> Frontier::NextDue() {
  std::optional<absl::Time> due;
  const auto page = store_.Scan(Column::kSchedule, "p");
  page->Seek(keys::ScheduledPage(store_.schedule_floor_ms(), {}));
  if (page->Valid()) {
    int64_t ready_ms = 0;
    std::string_view target;
    if (!keys::ParseSchedule(page->key(), ready_ms, target)) {
      return absl::DataLossError("a row of the schedule cannot be decoded");
    }
    due = absl::FromUnixMillis(ready_ms);
  }
  if (!page->status().ok()) return page->status();
  const std::optional<int64_t> rest = store_.rests().NextWithPagesAside();
  if (rest.has_value()) {
    const absl::Time ends = absl::FromUnixMillis(*rest);
    due = due.has_value() ? std::min(*due, ends) : ends;
  }
  return due;
}

absl::StatusOr<Later> Frontier::CountLater(size_t most) {
  Later later;
  std::vector<PageKey> pages;
  const auto count_retries = [&]() -> absl::Status {
    std::sort(pages.begin(), pages.end());
    const auto records = store_.GetPages(PagesOf(pages));
    if (!records.ok()) return records.status();
    for (const std::optional<proto::PageRecord>& record : *records) {
      if (!record.has_value() || record->state() != proto::FAILED) continue;
      const absl::Time ready = absl::FromUnixMillis(record->ready_ms());
      later.next_retry = std::min(ready, later.next_retry.value_or(ready));
      ++later.retries;
    }
    pages.clear();
    return absl::OkStatus();
  };
  int64_t ready_ms = 0;
  std::string_view target;
  size_t seen = 0;
  const auto page = store_.Scan(Column::kSchedule, "p", kLongRead);
  for (page->Seek(keys::ScheduledPage(store_.schedule_floor_ms(), {}));
       page->Valid() && seen < most; page->Next(), ++seen) {
    if (!keys::ParseSchedule(page->key(), ready_ms, target)) {
      return absl::DataLossError("a row of the schedule cannot be decoded");
    }
    pages.push_back(PageKey{std::string(target)});
    if (pages.size() < kPagesAtOnce) continue;
    if (absl::Status s = count_retries(); !s.ok()) return s;
  }
  if (!page->status().ok()) return page->status();
  later.is_counted = !page->Valid();
  if (absl::Status s = count_retries(); !s.ok()) return s;

  const auto host = store_.Scan(Column::kSchedule, "h", kLongRead);
  seen = 0;
  for (host->Seek("h"); host->Valid() && seen < most; host->Next(), ++seen) {
    if (!keys::ParseSchedule(host->key(), ready_ms, target)) {
      return absl::DataLossError("a row of the schedule cannot be decoded");
    }
    if (ready_ms <= kWakingMs) continue;  // Over.
    const absl::Time ends = absl::FromUnixMillis(ready_ms);
    ++later.resting_hosts;
    if (!later.next_rest_end.has_value()) later.next_rest_end = ends;
    later.last_rest_end = ends;  // They are in this order.
    later.last_host = HostKey{std::string(target)};
  }
  if (!host->status().ok()) return host->status();
  later.is_counted = later.is_counted && !host->Valid();
  return later;
}

}  // namespace gannet::storage
