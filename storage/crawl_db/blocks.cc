// The operator's block list: a webmaster complained, and from now on nothing of
// that domain is fetched. First the list is written, so that nothing new gets
// in; then the known pages are moved, a small batch at a time, so that a domain
// of millions of pages holds up no other verb. The list says how far that is: a
// process killed in between finishes it when it opens the DB again.
#include "storage/crawl_db/blocks.h"

#include <algorithm>
#include <functional>

#include "storage/crawl_db/page_record.h"
#include "storage/crawl_db/page_rows.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

constexpr size_t kBatch = 1000;

absl::StatusOr<proto::BlockList> ReadList(Store& store) {
  proto::BlockList list;
  absl::StatusOr<std::string> bytes =
      store.Get(Column::kMeta, keys::kBlockList);
  if (absl::IsNotFound(bytes.status())) return list;
  if (!bytes.ok()) return bytes.status();
  if (!list.ParseFromString(*bytes)) {
    return absl::DataLossError("the block list cannot be decoded");
  }
  return list;
}

// Moves the pages whose keys start with `prefix`, in small writes; `move`
// changes the record and says whether it did.
// REQUIRES: all of them are of one bucket.
using MovePage =
    std::function<bool(Edit&, std::string_view page, proto::PageRecord&)>;
absl::StatusOr<int64_t> MovePages(Store& store, const std::string& prefix,
                                  const MovePage& move) {
  int64_t moved = 0;
  std::string from = prefix;
  for (bool more = true; more;) {
    StripeLocks locks(store.stripes(), {prefix});
    const auto it = store.Scan(Column::kPages, prefix, {.fill_cache = false});
    Edit edit;
    size_t seen = 0;
    for (it->Seek(from);; it->Next()) {
      more = it->Valid();
      if (!more) break;
      const std::string_view page = it->key();
      if (seen++ == kBatch) {
        from = page;
        break;
      }
      proto::PageRecord record;
      if (!record.ParseFromArray(it->value().data(),
                                 static_cast<int>(it->value().size()))) {
        return absl::DataLossError("a page's record cannot be decoded");
      }
      const proto::PageState state = record.state();
      if (!move(edit, page, record)) continue;
      ++moved;
      --edit.delta.pages_by_state[state];
      ++edit.delta.pages_by_state[record.state()];
      edit.PutMessage(Column::kPages, page, record);
    }
    if (!it->status().ok()) return it->status();
    if (absl::Status s = store.Commit(edit); !s.ok()) return s;
  }
  return moved;
}

}  // namespace

absl::Status Blocks::SetStage(std::string_view domain,
                              std::optional<proto::BlockList::Stage> stage) {
  {
    // All: no page may be added meanwhile.
    StripeLocks locks(store_.stripes());
    absl::StatusOr<proto::BlockList> list = ReadList(store_);
    if (!list.ok()) return list.status();
    auto& entries = *list->mutable_entries();
    auto it = std::find_if(
        entries.begin(), entries.end(),
        [&](const auto& entry) { return entry.domain() == domain; });
    if (!stage.has_value()) {
      if (it != entries.end()) entries.erase(it);
    } else if (it != entries.end()) {
      it->set_stage(*stage);
    } else {
      proto::BlockList::Entry* entry = list->add_entries();
      entry->set_domain(std::string(domain));
      entry->set_stage(*stage);
    }
    Edit edit;
    edit.PutMessage(Column::kMeta, keys::kBlockList, *list);
    if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
    store_.SetBlockList(*list);
  }
  return store_.Sync();
}

// Pages that were finished before, for whatever reason, stay as they are.
absl::StatusOr<int64_t> Blocks::TakeOut(std::string_view domain) {
  const absl::StatusOr<std::string> prefix = BlockedPrefix(domain);
  if (!prefix.ok()) return prefix.status();
  auto moved = MovePages(
      store_, *prefix,
      [&](Edit& edit, std::string_view page, proto::PageRecord& record)
          ABSL_EXCLUSIVE_LOCKS_REQUIRED(store_.stripes()) {
            if (record.place() == proto::FINISHED) return false;
            LeavePlace(store_, edit, page, record);
            MarkTakenOut(record);
            ++edit.delta.finished_pages;
            return true;
          });
  if (!moved.ok()) return moved;
  absl::Status done = SetStage(domain, proto::BlockList::IN_FORCE);
  if (!done.ok()) return done;
  return moved;
}

// A page that another entry of the list still blocks stays out. The other pages
// are restored except for their cash, which the root has paid out since.
absl::StatusOr<int64_t> Blocks::PutBack(std::string_view domain) {
  const absl::StatusOr<std::string> prefix = BlockedPrefix(domain);
  if (!prefix.ok()) return prefix.status();
  auto moved = MovePages(
      store_, *prefix,
      [&](Edit& edit, std::string_view page, proto::PageRecord& record)
          ABSL_EXCLUSIVE_LOCKS_REQUIRED(store_.stripes()) {
            if (!WasTakenOut(record) || store_.IsBlocked(page)) return false;
            --edit.delta.finished_pages;
            UnmarkTakenOut(record);
            EnterPlace(store_, edit, page, record);
            return true;
          });
  if (!moved.ok()) return moved;
  absl::Status done = SetStage(domain, std::nullopt);
  if (!done.ok()) return done;
  return moved;
}

absl::StatusOr<int64_t> Blocks::Block(std::string_view domain) {
  if (auto prefix = BlockedPrefix(domain); !prefix.ok()) {
    return prefix.status();
  }
  absl::Status begun = SetStage(domain, proto::BlockList::TAKING_OUT);
  if (!begun.ok()) return begun;
  return TakeOut(domain);
}

absl::StatusOr<int64_t> Blocks::Unblock(std::string_view domain) {
  absl::StatusOr<std::vector<std::string>> blocked = Blocked();
  if (!blocked.ok()) return blocked.status();
  if (std::find(blocked->begin(), blocked->end(), domain) == blocked->end()) {
    return absl::NotFoundError(std::string(domain) + " is not blocked");
  }
  absl::Status begun = SetStage(domain, proto::BlockList::PUTTING_BACK);
  if (!begun.ok()) return begun;
  return PutBack(domain);
}

absl::Status Blocks::Finish() {
  absl::StatusOr<proto::BlockList> list = ReadList(store_);
  if (!list.ok()) return list.status();
  for (const proto::BlockList::Entry& entry : list->entries()) {
    if (entry.stage() == proto::BlockList::IN_FORCE) continue;
    auto moved = entry.stage() == proto::BlockList::TAKING_OUT
                     ? TakeOut(entry.domain())
                     : PutBack(entry.domain());
    if (!moved.ok()) return moved.status();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> Blocks::Blocked() {
  absl::StatusOr<proto::BlockList> list = ReadList(store_);
  if (!list.ok()) return list.status();
  std::vector<std::string> domains;
  for (const proto::BlockList::Entry& entry : list->entries()) {
    domains.push_back(entry.domain());
  }
  std::sort(domains.begin(), domains.end());
  return domains;
}

uint64_t Blocks::block_changes() const { return store_.block_changes(); }

bool Blocks::IsBlocked(const PageKey& page) {
  StripeLocks locks(store_.stripes(), {page.bytes});
  return store_.IsBlocked(page.bytes);
}

}  // namespace gannet::storage
