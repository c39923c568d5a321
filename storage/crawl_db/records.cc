#include "storage/crawl_db/records.h"

#include "storage/crawl_db/host_rows.h"
#include "storage/crawl_db/page_rows.h"
#include "storage/crawl_db/pair_rows.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"
#include "storage/engine/count.h"

namespace gannet::storage {
namespace {

constexpr ReadOptions kScanOfAll = {.read_ahead_bytes = 1 << 20,
                                    .fill_cache = false};

}  // namespace

absl::StatusOr<proto::PageRecord> Records::GetPage(const PageKey& page) {
  return store_.GetPage(page.bytes);
}

absl::StatusOr<std::vector<std::optional<proto::PageRecord>>> Records::GetPages(
    absl::Span<const PageKey> pages) {
  return store_.GetPages(PagesOf(pages));
}

absl::Status Records::ScanPages(
    const PageKey& from,
    const std::function<bool(std::string_view page, const proto::PageRecord&)>&
        visit) {
  const auto it = store_.Scan(Column::kPages, "", kScanOfAll);
  proto::PageRecord record;
  for (it->Seek(from.bytes); it->Valid(); it->Next()) {
    if (!record.ParseFromArray(it->value().data(), it->value().size())) {
      return absl::DataLossError("a page's record cannot be decoded");
    }
    if (!visit(it->key(), record)) break;
  }
  return it->status();
}

absl::Status Records::Forget(const PageKey& page) {
  {
    StripeLocks locks(store_.stripes(), {page.bytes});
    absl::StatusOr<proto::PageRecord> record = store_.GetPage(page.bytes);
    if (!record.ok()) return record.status();
    Edit edit;
    LeavePlace(store_, edit, page.bytes, *record);
    --edit.delta.pages_by_state[record->state()];
    --edit.host_pages[std::string(HostPartOf(page.bytes))];
    edit.Delete(Column::kPages, page.bytes);
    if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  }
  return store_.Sync();
}

absl::StatusOr<proto::HostRecord> Records::GetHost(const HostKey& host) {
  return storage::GetHost(store_, host);
}

absl::StatusOr<int64_t> Records::HostPages(const HostKey& host) {
  return storage::HostPages(store_, host);
}

absl::Status Records::ScanHosts(
    const HostKey& from,
    const std::function<bool(std::string_view host, int64_t pages,
                             const proto::HostRecord&)>& visit) {
  const auto it = store_.Scan(Column::kHosts, "", kScanOfAll);
  // A host has up to two rows, which are neighbours.
  std::string host;
  int64_t pages = 0;
  proto::HostRecord record;
  for (it->Seek(from.bytes); it->Valid(); it->Next()) {
    const std::string_view key = it->key();
    const std::string_view value = it->value();
    const std::string_view name = key.substr(0, key.size() - 1);
    if (name != host) {
      if ((pages != 0 || record.version() != 0) &&
          !visit(host, pages, record)) {
        return absl::OkStatus();
      }
      host = name;
      pages = 0;
      record.Clear();
    }
    if (key.ends_with('n')) {
      pages = DecodeCount(value);
    } else if (!record.ParseFromArray(value.data(),
                                      static_cast<int>(value.size()))) {
      return absl::DataLossError("a host's record cannot be decoded");
    }
  }
  if (!it->status().ok()) return it->status();
  if (pages != 0 || record.version() != 0) visit(host, pages, record);
  return absl::OkStatus();
}

absl::Status Records::PutHost(const HostUpdate& update) {
  if (!IsHostKey(update.host.bytes)) {
    return absl::InvalidArgumentError("not the key of a host");
  }
  StripeLocks locks(store_.stripes(), {update.host.bytes});
  Edit edit;
  if (absl::Status status = AddHost(store_, edit, update); !status.ok()) {
    return status;
  }
  return store_.Commit(edit);
}

absl::StatusOr<proto::ArchiveState> Records::archive_state() {
  return store_.GetMessage<proto::ArchiveState>(Column::kMeta, keys::kArchive);
}

absl::StatusOr<proto::SiteIdentity> Records::identity() {
  return GetIdentity(store_);
}

absl::StatusOr<proto::SiteIdentity> Records::PromisedIdentity() {
  auto identity = GetIdentity(store_);
  if (!identity.ok()) return identity;
  if (absl::Status s = store_.Sync(); !s.ok()) return s;
  return identity;
}

absl::Status Records::SetIdentity(const proto::SiteIdentity& identity) {
  Edit edit;
  edit.PutMessage(Column::kMeta, keys::kIdentity, identity);
  if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  return store_.Sync();
}

absl::StatusOr<std::string> Records::GetNote(std::string_view name) {
  return store_.Get(Column::kMeta, keys::Note(name));
}

absl::Status Records::PutNote(std::string_view name, std::string_view bytes) {
  Edit edit;
  edit.Put(Column::kMeta, keys::Note(name), bytes);
  if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  return store_.Sync();
}

}  // namespace gannet::storage
