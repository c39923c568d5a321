// Pages that move: another site owns them now. They leave here with the write
// that cuts them into a batch, of the same numbered stream that carries found
// URLs (sending.cc), so that each arrives once; and they arrive with the write
// that stores the batch's number (receiving.cc). In between they are in the
// batch, and their cash is the outbox's.
//
// A page may come to where it is known: both sites found it, or it comes back.
// Then the two become one: cash and history add up, and the rest is that of the
// later visit.
#include <algorithm>

#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/page_moves.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

// A host's record beyond this goes without its robots.txt files, which the new
// owner fetches anyway if it has none.
constexpr size_t kMostHostBytes = 256 << 10;

// A failure's kind is a peer's word. Cut short, or in other letters, it might
// be no UTF-8, and the record could never be read again.
bool IsFailureName(std::string_view name) {
  constexpr size_t kMaxBytes = 64;
  return name.size() <= kMaxBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// The one of `first` and `second` that was visited later, with what both have
// of cash and history. Where neither was later, the first.
proto::PageRecord Merged(const proto::PageRecord& first,
                         const proto::PageRecord& second) {
  const bool second_is_later = second.visited_ms() > first.visited_ms();
  proto::PageRecord merged = second_is_later ? second : first;
  const proto::PageRecord& other = second_is_later ? first : second;
  merged.set_cash(first.cash() + second.cash());
  AddHistory(merged, other.history());
  merged.set_depth(std::min(first.depth(), second.depth()));
  merged.set_redirects(std::min(first.redirects(), second.redirects()));
  merged.set_found_ms(std::min(first.found_ms(), second.found_ms()));
  return merged;
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

// Cash that a page in that place has no use for is the root's.
void PassOnCash(Edit& edit, proto::PageRecord& record) {
  AddHistory(record, record.cash());
  edit.delta.root += record.cash();
  record.set_cash(0);
}

// A rest that is not a time (store.h) means nothing to another site.
int64_t RestOf(const proto::HostRecord& record) {
  return record.rest_until_ms() > kWakingMs ? record.rest_until_ms() : 0;
}

}  // namespace

absl::StatusOr<PagesCut> CrawlDb::CutPages(const Peer& to,
                                           absl::Span<const HostKey> hosts,
                                           size_t most, size_t most_bytes,
                                           std::string* cursor) {
  StripeLocks locks(*store_);
  auto pair = OpenedPair(to);
  if (!pair.ok()) return pair.status();
  Edit edit;
  PagesCut result;
  OutboxCut cut;
  size_t bytes = 0;
  const auto is_full = [&] {
    return static_cast<size_t>(cut.batch.pages_size()) >= most ||
           bytes >= most_bytes;
  };
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(
      rocksdb::ReadOptions(), store_->column(Column::kPages)));
  // From its beginning, a large host would be read anew for each cut, over the
  // tombstones of all cuts before.
  const std::string begin = cursor != nullptr ? *cursor : "";
  std::string end;
  for (const HostKey& host : hosts) {
    if (is_full()) break;
    if (!IsHostKey(host.bytes)) {
      return absl::InvalidArgumentError("no key of a host");
    }
    int64_t taken = 0, in_round = 0;
    bool more = false;
    for (it->Seek(begin.starts_with(host.bytes) ? begin : host.bytes);
         it->Valid() && it->key().starts_with(host.bytes); it->Next()) {
      const std::string_view page(it->key().data(), it->key().size());
      if (store_->IsClaimed(page)) {
        ++in_round;
        continue;
      }
      if (more = is_full(); more) {
        end = page;
        break;
      }
      proto::MovedPage& moved = *cut.batch.add_pages();
      moved.set_page(page.data(), page.size());
      proto::PageRecord& record = *moved.mutable_record();
      if (!record.ParseFromArray(it->value().data(),
                                 static_cast<int>(it->value().size())) ||
          !IsSound(record)) {
        return absl::DataLossError("a page's record cannot be decoded");
      }
      LeaveColumns(*store_, edit, page, record);
      store_->Delete(edit, Column::kPages, page);
      --edit.delta.pages_by_state[record.state()];
      edit.delta.pages -= record.cash();
      edit.delta.outbox += record.cash();
      ++edit.delta.outbox_urls[to.site];
      cut.batch.set_cash(cut.batch.cash() + record.cash());
      bytes += page.size() + it->value().size();
      ++taken;
    }
    if (!it->status().ok()) {
      return FromRocksDb(it->status(), "reading the pages of a host");
    }
    result.pages += taken;
    result.in_round += in_round;
    // Of the open round, or come behind the cursor.
    absl::StatusOr<int64_t> left = HostPages(host);
    if (!left.ok()) return left.status();
    if (more || *left > taken) {
      edit.host_pages[host.bytes] -= taken;
      if (more) break;
      ++result.hosts_done;
      continue;
    }
    absl::StatusOr<proto::HostRecord> record = GetHost(host);
    if (!record.ok()) return record.status();
    if (taken > 0) {
      store_->Delete(edit, Column::kHosts, keys::HostPages(host.bytes));
    }
    if (record->version() != 0) {
      store_->Delete(edit, Column::kHosts, keys::HostInfo(host.bytes));
      if (record->rest_until_ms() != 0) {
        store_->Delete(
            edit, Column::kSchedule,
            keys::ScheduledHost(record->rest_until_ms(), host.bytes));
        edit.awake.push_back(host.bytes);
      }
      record->set_rest_until_ms(RestOf(*record));
      if (record->ByteSizeLong() > kMostHostBytes) record->clear_robots();
      bytes += host.bytes.size() + record->ByteSizeLong();
      proto::MovedHost& moved = *cut.batch.add_hosts();
      moved.set_host(host.bytes);
      *moved.mutable_record() = *std::move(record);
    }
    ++result.hosts_done;
  }
  if (cut.batch.pages_size() > 0 || cut.batch.hosts_size() > 0) {
    absl::Status s = FinishCut(edit, to.site, *pair, cut);
    if (!s.ok()) return s;
    result.sequence = cut.sequence;
  }
  if (cursor != nullptr) *cursor = end;
  return result;
}

absl::Status CrawlDb::CutComplete(const Peer& to, uint64_t change) {
  StripeLocks locks(*store_);
  auto pair = OpenedPair(to);
  if (!pair.ok()) return pair.status();
  if (pair->completed_for() >= change) return absl::OkStatus();
  Edit edit;
  OutboxCut cut;
  cut.batch.set_complete_for(change);
  return FinishCut(edit, to.site, *pair, cut);
}

absl::StatusOr<int64_t> CrawlDb::AddMoved(Edit& edit,
                                          std::vector<proto::MovedPage> moved,
                                          const Moment& moment) {
  const std::vector<proto::MovedPage> pages = SortedAndMerged(std::move(moved));
  std::vector<std::string_view> keys;
  for (const proto::MovedPage& page : pages) keys.push_back(page.page());
  auto records = store_->GetPages(keys);
  if (!records.ok()) return records.status();
  for (size_t i = 0; i < pages.size(); ++i) {
    const std::string& page = pages[i].page();
    proto::PageRecord record = pages[i].record();
    // It was blocked where it was, and is not, or not yet, here.
    if (WasTakenOut(record) && !store_->IsBlocked(page)) UnmarkTakenOut(record);
    const bool is_known = (*records)[i].has_value();
    if (is_known) {
      proto::PageRecord& known = *(*records)[i];
      if (store_->IsClaimed(page)) {  // Its visit is under way.
        known.set_cash(known.cash() + record.cash());
        AddHistory(known, record.history());
        edit.delta.pages += record.cash();
        store_->PutMessage(edit, Column::kPages, page, known);
        continue;
      }
      LeaveColumns(*store_, edit, page, known);
      --edit.delta.pages_by_state[known.state()];
      edit.delta.pages -= known.cash();
      record = Merged(known, record);
    } else {
      ++edit.host_pages[std::string(HostPartOf(page))];
    }
    if (store_->IsBlocked(page) && record.place() != proto::FINISHED) {
      edit.delta.root += record.cash();
      MarkTakenOut(record);
    } else if (is_known ? !KeepsCash(record, moment)
                        : record.place() == proto::FINISHED) {
      PassOnCash(edit, record);
    }
    edit.delta.pages += record.cash();
    ++edit.delta.pages_by_state[record.state()];
    EnterPlace(*store_, edit, page, record);
    store_->PutMessage(edit, Column::kPages, page, record);
  }
  return static_cast<int64_t>(pages.size());
}

// Of two records of a host each has seen what the other has not: what is kept
// is what makes the crawler more careful, and what lasts longer.
absl::Status CrawlDb::AddMovedHost(Edit& edit, const HostUpdate& update) {
  absl::StatusOr<proto::HostRecord> known = GetHost(update.host);
  if (!known.ok()) return known.status();
  const proto::HostRecord& other = update.record;
  proto::HostRecord merged = *known;
  for (const proto::RobotsRules& rules : other.robots()) {
    auto& mine = *merged.mutable_robots();
    const auto it = std::find_if(
        mine.begin(), mine.end(),
        [&](const auto& known) { return known.origin() == rules.origin(); });
    if (it == mine.end()) {
      *merged.add_robots() = rules;
    } else if (it->expires_ms() < rules.expires_ms()) {
      *it = rules;
    }
  }
  merged.set_delay_ms(std::max(merged.delay_ms(), other.delay_ms()));
  if (merged.failures() < other.failures()) {
    merged.set_failures(other.failures());
    merged.set_last_failure(
        IsFailureName(other.last_failure()) ? other.last_failure() : "");
  }
  if (merged.addresses().empty()) {
    *merged.mutable_addresses() = other.addresses();
  }
  if (merged.rtt_us().empty()) *merged.mutable_rtt_us() = other.rtt_us();
  // AddHost knows what becomes of a rest that is not a time.
  merged.set_rest_until_ms(std::max(RestOf(*known), RestOf(other)));
  return AddHost(edit, {update.host, merged}, /*by_wake=*/false);
}

}  // namespace gannet::storage
