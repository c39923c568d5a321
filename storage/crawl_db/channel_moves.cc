#include "storage/crawl_db/channel_moves.h"

#include <vector>

#include "storage/crawl_db/host_rows.h"
#include "storage/crawl_db/page_rows.h"
#include "storage/crawl_db/pair_rows.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

// A host's record beyond this goes without its robots.txt files, which the new
// owner fetches anyway if it has none.
constexpr size_t kMostHostBytes = 256 << 10;

}  // namespace

absl::StatusOr<PagesCut> ChannelMoves::CutPages(const Peer& to,
                                                absl::Span<const HostKey> hosts,
                                                size_t most, size_t most_bytes,
                                                std::string* cursor) {
  std::vector<std::string_view> names;
  for (const HostKey& host : hosts) {
    if (!IsHostKey(host.bytes)) {
      return absl::InvalidArgumentError("not the key of a host");
    }
    names.push_back(host.bytes);
  }
  PagesCut result;
  std::string end;
  {
    StripeLocks locks(store_.stripes(), names);
    PairLocks pairs(store_.pairs(), {to.site});
    auto pair = GetOpenedPair(store_, to);
    if (!pair.ok()) return pair.status();
    Edit edit;
    OutboxCut cut;
    size_t bytes = 0;
    const auto is_full = [&] {
      return static_cast<size_t>(cut.batch.pages_size()) >= most ||
             bytes >= most_bytes;
    };
    const auto it = store_.Scan(Column::kPages, "");
    // Begins at the cursor: from its beginning, a large host would be read anew
    // for each cut, over the tombstones of all cuts before.
    const std::string begin = cursor != nullptr ? *cursor : "";
    for (const HostKey& host : hosts) {
      if (is_full()) break;
      int64_t taken = 0, in_round = 0;
      bool more = false;
      for (it->Seek(begin.starts_with(host.bytes) ? begin : host.bytes);
           it->Valid() && it->key().starts_with(host.bytes); it->Next()) {
        const std::string_view page = it->key();
        if (store_.claims().Has(page)) {
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
        LeaveColumns(store_, edit, page, record);
        edit.Delete(Column::kPages, page);
        --edit.delta.pages_by_state[record.state()];
        edit.delta.pages -= record.cash();
        edit.delta.outbox += record.cash();
        ++edit.delta.outbox_urls[to.site];
        cut.batch.set_cash(cut.batch.cash() + record.cash());
        bytes += page.size() + it->value().size();
        ++taken;
      }
      if (!it->status().ok()) return it->status();
      result.pages += taken;
      result.in_round += in_round;
      // Of the open round, or come behind the cursor.
      absl::StatusOr<int64_t> left = HostPages(store_, host);
      if (!left.ok()) return left.status();
      if (more || *left > taken) {
        edit.host_pages[host.bytes] -= taken;
        if (more) break;
        ++result.hosts_done;
        continue;
      }
      if (taken > 0) {
        edit.Delete(Column::kHosts, keys::HostPages(host.bytes));
      }
      absl::StatusOr<proto::HostRecord> record = TakeHost(store_, edit, host);
      if (!record.ok()) return record.status();
      if (record->version() != 0) {
        if (record->ByteSizeLong() > kMostHostBytes) record->clear_robots();
        bytes += host.bytes.size() + record->ByteSizeLong();
        proto::MovedHost& moved = *cut.batch.add_hosts();
        moved.set_host(host.bytes);
        *moved.mutable_record() = *std::move(record);
      }
      ++result.hosts_done;
    }
    if (cut.batch.pages_size() > 0 || cut.batch.hosts_size() > 0) {
      AddCut(store_, edit, to.site, *pair, cut);
      if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
      result.sequence = cut.sequence;
    }
  }
  if (result.sequence != 0) {
    if (absl::Status s = store_.Sync(); !s.ok()) return s;
  }
  if (cursor != nullptr) *cursor = end;
  return result;
}

absl::Status ChannelMoves::CutComplete(const Peer& to, uint64_t change) {
  {
    PairLocks locks(store_.pairs(), {to.site});
    auto pair = GetOpenedPair(store_, to);
    if (!pair.ok()) return pair.status();
    if (pair->completed_for() >= change) return absl::OkStatus();
    Edit edit;
    OutboxCut cut;
    cut.batch.set_complete_for(change);
    AddCut(store_, edit, to.site, *pair, cut);
    if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  }
  return store_.Sync();
}

}  // namespace gannet::storage
