// Single records: pages, hosts, the site's identity, the archive's open files.
#include <fmt/format.h>

#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/page_moves.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

constexpr ReadOptions kScanOfAll = {.read_ahead_bytes = 1 << 20,
                                    .fill_cache = false};

// A row that was never written reads as an empty message.
template <typename Message>
absl::StatusOr<Message> GetMessage(Store& store, Column column,
                                   std::string_view key) {
  Message message;
  absl::StatusOr<std::string> bytes = store.Get(column, key);
  if (absl::IsNotFound(bytes.status())) return message;
  if (!bytes.ok()) return bytes.status();
  if (!message.ParseFromString(*bytes)) {
    return absl::DataLossError(
        fmt::format("the record '{}' cannot be decoded", key));
  }
  return message;
}

}  // namespace

absl::StatusOr<proto::PageRecord> CrawlDb::GetPage(const PageKey& page) {
  return store_->GetPage(page.bytes);
}

absl::StatusOr<std::vector<std::optional<proto::PageRecord>>> CrawlDb::GetPages(
    absl::Span<const PageKey> pages) {
  return store_->GetPages(PagesOf(pages));
}

absl::StatusOr<std::vector<std::optional<int64_t>>> CrawlDb::CashOfNew(
    absl::Span<const Found> urls) {
  const std::vector<std::string_view> views = PagesOf(urls);
  const std::vector<std::string> pages(views.begin(), views.end());
  StripeLocks locks(*store_, views);
  auto rows = store_->MultiGet(Column::kPages, pages);
  if (!rows.ok()) return rows.status();
  auto deferred = DeferredOf(urls);
  if (!deferred.ok()) return deferred.status();
  std::vector<std::optional<int64_t>> cash(pages.size());
  for (size_t i = 0; i < cash.size(); ++i) {
    if ((*rows)[i].has_value() || store_->IsBlocked(pages[i])) continue;
    cash[i] = urls[i].cash;
    if ((*deferred)[i].has_value()) *cash[i] += (*deferred)[i]->cash;
  }
  return cash;
}

absl::Status CrawlDb::ScanPages(
    const PageKey& from,
    const std::function<bool(std::string_view page, const proto::PageRecord&)>&
        visit) {
  const auto it = store_->Scan(Column::kPages, "", kScanOfAll);
  proto::PageRecord record;
  for (it->Seek(from.bytes); it->Valid(); it->Next()) {
    if (!record.ParseFromArray(it->value().data(), it->value().size())) {
      return absl::DataLossError("a page's record cannot be decoded");
    }
    if (!visit(it->key(), record)) break;
  }
  return it->status();
}

absl::Status CrawlDb::Forget(const PageKey& page) {
  StripeLocks locks(*store_, {page.bytes});
  absl::StatusOr<proto::PageRecord> record = store_->GetPage(page.bytes);
  if (!record.ok()) return record.status();
  Edit edit;
  LeavePlace(*store_, edit, page.bytes, *record);
  --edit.delta.pages_by_state[record->state()];
  --edit.host_pages[std::string(HostPartOf(page.bytes))];
  edit.Delete(Column::kPages, page.bytes);
  return store_->Commit(edit, /*sync=*/true);
}

absl::StatusOr<proto::HostRecord> CrawlDb::GetHost(const HostKey& host) {
  return GetMessage<proto::HostRecord>(*store_, Column::kHosts,
                                       keys::HostInfo(host.bytes));
}

absl::Status CrawlDb::ScanHosts(
    const HostKey& from,
    const std::function<bool(std::string_view host, int64_t pages,
                             const proto::HostRecord&)>& visit) {
  const auto it = store_->Scan(Column::kHosts, "", kScanOfAll);
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

absl::StatusOr<int64_t> CrawlDb::HostPages(const HostKey& host) {
  absl::StatusOr<std::string> bytes =
      store_->Get(Column::kHosts, keys::HostPages(host.bytes));
  if (absl::IsNotFound(bytes.status())) return 0;
  if (!bytes.ok()) return bytes.status();
  return DecodeCount(*bytes);
}

// A rest is a row of the schedule too, so that it ends in time. Only WakeDue
// ends one, because it brings back the pages that were put aside: when anybody
// else clears a rest, it becomes due at once.
absl::Status CrawlDb::AddHost(Edit& edit, const HostUpdate& update,
                              bool by_wake) {
  const std::string& host = update.host.bytes;
  absl::StatusOr<proto::HostRecord> before = GetHost(update.host);
  if (!before.ok()) return before.status();
  proto::HostRecord record = update.record;
  record.set_version(1);
  const int64_t was_ms = before->rest_until_ms();
  if (record.rest_until_ms() != 0 && !by_wake) {
    record.set_rest_until_ms(RealTime(record.rest_until_ms()));
  }
  if (was_ms != 0 && record.rest_until_ms() == 0 && !by_wake) {
    record.set_rest_until_ms(was_ms == kWakingMs ? kWakingMs : kDueAtOnceMs);
  }
  const int64_t until_ms = record.rest_until_ms();
  if (was_ms != 0 && was_ms != until_ms) {
    edit.Delete(Column::kSchedule, keys::ScheduledHost(was_ms, host));
  }
  if (until_ms != 0) {
    edit.Put(Column::kSchedule, keys::ScheduledHost(until_ms, host), {});
    edit.resting.emplace_back(host, until_ms);
  } else if (was_ms != 0) {
    edit.awake.push_back(host);
  }
  edit.PutMessage(Column::kHosts, keys::HostInfo(host), record);
  return absl::OkStatus();
}

absl::Status CrawlDb::PutHost(const HostUpdate& update) {
  if (!IsHostKey(update.host.bytes)) {
    return absl::InvalidArgumentError("no key of a host");
  }
  StripeLocks locks(*store_, {update.host.bytes});
  Edit edit;
  if (absl::Status status = AddHost(edit, update, /*by_wake=*/false);
      !status.ok()) {
    return status;
  }
  return store_->Commit(edit, /*sync=*/false);
}

absl::StatusOr<proto::ArchiveState> CrawlDb::archive_state() {
  return GetMessage<proto::ArchiveState>(*store_, Column::kMeta,
                                         keys::kArchive);
}

absl::StatusOr<proto::SiteIdentity> CrawlDb::identity() {
  return GetMessage<proto::SiteIdentity>(*store_, Column::kMeta,
                                         keys::kIdentity);
}

absl::Status CrawlDb::SetIdentity(const proto::SiteIdentity& identity) {
  Edit edit;
  edit.PutMessage(Column::kMeta, keys::kIdentity, identity);
  return store_->Commit(edit, /*sync=*/true);
}

absl::StatusOr<std::string> CrawlDb::GetNote(std::string_view name) {
  return store_->Get(Column::kMeta, keys::Note(name));
}

absl::Status CrawlDb::PutNote(std::string_view name, std::string_view bytes) {
  Edit edit;
  edit.Put(Column::kMeta, keys::Note(name), bytes);
  return store_->Commit(edit, /*sync=*/true);
}

Totals CrawlDb::totals() const { return store_->totals(); }

}  // namespace gannet::storage
