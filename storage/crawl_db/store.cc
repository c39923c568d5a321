#include "storage/crawl_db/store.h"

#include <fmt/format.h>
#include <rocksdb/perf_level.h>

#include <algorithm>

#include "storage/crawl_db/hash128.h"

namespace gannet::storage {
namespace {

// RocksDB counts every comparison of keys for its profiler unless the thread
// says no: a twentieth of a crawl's CPU.
void DoNotCountComparisons() {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
}

rocksdb::Slice ToSlice(std::string_view view) {
  return {view.data(), view.size()};
}

absl::Status BadRecord(std::string_view what) {
  return absl::DataLossError(fmt::format(
      "{} cannot be decoded; run 'gannet verify --full', and restore a backup",
      what));
}

absl::StatusOr<proto::PageRecord> DecodePage(std::string_view bytes) {
  proto::PageRecord record;
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !IsSound(record)) {
    return BadRecord("a page's record");
  }
  return record;
}

}  // namespace

bool IsSound(const proto::PageRecord& record) {
  return proto::PageState_IsValid(record.state()) &&
         proto::PagePlace_IsValid(record.place()) &&
         proto::PageState_IsValid(record.before_block().state()) &&
         proto::PagePlace_IsValid(record.before_block().place());
}

absl::Status FromRocksDb(const rocksdb::Status& status,
                         std::string_view doing) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = fmt::format("{}: {}", doing, status.ToString());
  if (status.IsNoSpace() ||
      status.ToString().find("Disk quota exceeded") != std::string::npos) {
    return absl::ResourceExhaustedError("disk full: " + message);
  }
  if (status.IsCorruption()) {
    return absl::DataLossError("the crawl DB is damaged: " + message);
  }
  if (status.IsNotFound()) return absl::NotFoundError(message);
  return absl::InternalError(message);
}

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& folder,
                                                   const StoreMemory& memory,
                                                   std::optional<Order> order) {
  absl::StatusOr<DataFolder> data_folder = DataFolder::Open(folder);
  if (!data_folder.ok()) return data_folder.status();
  std::unique_ptr<Store> store(new Store(*std::move(data_folder)));
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(MakeDbOptions(memory), folder, MakeColumns(memory),
                        &store->handles_, &db);
  if (!status.ok()) return FromRocksDb(status, "cannot open " + folder);
  store->db_.reset(db);
  if (absl::Status loaded = store->Load(); !loaded.ok()) return loaded;
  if (absl::Status s = store->SetOrder(order); !s.ok()) return s;
  return store;
}

Store::~Store() {
  if (db_ == nullptr) return;
  for (auto* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
  db_->Close();
}

absl::Status Store::Load() {
  MutexLock lock(&commit_mu_);
  if (auto bytes = Get(Column::kMeta, keys::kTotals); bytes.ok()) {
    proto::Totals stored;
    if (!stored.ParseFromString(*bytes)) return BadRecord("the ledger");
    totals_ = Totals::FromProto(stored);
  } else if (!absl::IsNotFound(bytes.status())) {
    return bytes.status();
  }
  if (auto bytes = Get(Column::kRounds, keys::Journal()); bytes.ok()) {
    if (!journal_.ParseFromString(*bytes)) return BadRecord("the journal");
  } else if (!absl::IsNotFound(bytes.status())) {
    return bytes.status();
  }

  if (auto bytes = Get(Column::kMeta, keys::kBlockList); bytes.ok()) {
    proto::BlockList list;
    if (!list.ParseFromString(*bytes)) return BadRecord("the block list");
    blocked_.Set(list);
  } else if (!absl::IsNotFound(bytes.status())) {
    return bytes.status();
  }

  std::unique_ptr<rocksdb::Iterator> it(
      db_->NewIterator(rocksdb::ReadOptions(), column(Column::kRounds)));
  for (it->Seek("f"); it->Valid() && it->key().starts_with("f"); it->Next()) {
    const std::string_view page(it->key().data() + 1, it->key().size() - 1);
    ClaimedOf(page).insert(Hash128(page));
  }
  if (!it->status().ok()) {
    return FromRocksDb(it->status(), "reading the open round");
  }

  // A host rests while the schedule holds it, though its time may be past:
  // WakeDue ends a rest, nothing else.
  it.reset(db_->NewIterator(rocksdb::ReadOptions(), column(Column::kSchedule)));
  for (it->Seek("h"); it->Valid() && it->key().starts_with("h"); it->Next()) {
    int64_t until_ms = 0;
    std::string_view host;
    if (!keys::ParseSchedule({it->key().data(), it->key().size()}, until_ms,
                             host)) {
      return BadRecord("a schedule entry");
    }
    RestingOf(host)[Hash128(host)] = until_ms;
    ++resting_hosts_;
  }
  return FromRocksDb(it->status(), "reading the schedule");
}

// A DB without the row is OPIC's.
absl::Status Store::SetOrder(std::optional<Order> wanted) {
  if (auto name = Get(Column::kMeta, keys::kOrder); name.ok()) {
    const std::optional<Order> stored = OrderFromName(*name);
    if (!stored.has_value()) return BadRecord("the frontier's order");
    order_ = *stored;
  } else if (!absl::IsNotFound(name.status())) {
    return name.status();
  }
  if (!wanted.has_value() || *wanted == order_) return absl::OkStatus();
  if (totals().KnownPages() > 0) {
    return absl::FailedPreconditionError(fmt::format(
        "the pages of this crawl DB are in the order '{}', and '{}' is asked "
        "for: an order is fixed with the first page. Leave crawl.order out, or "
        "choose another data folder",
        OrderName(order_), OrderName(*wanted)));
  }
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status status =
      db_->Put(options, column(Column::kMeta), keys::kOrder,
               ToSlice(OrderName(*wanted)));
  if (!status.ok()) return FromRocksDb(status, "writing the frontier's order");
  order_ = *wanted;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Store::Get(Column column, std::string_view key,
                                       const rocksdb::Snapshot* at) {
  rocksdb::ReadOptions options;
  options.snapshot = at;
  std::string value;
  const rocksdb::Status status =
      db_->Get(options, this->column(column), ToSlice(key), &value);
  if (!status.ok()) return FromRocksDb(status, "reading a row");
  return value;
}

absl::StatusOr<std::vector<std::optional<std::string>>> Store::MultiGet(
    Column column, const std::vector<std::string>& keys,
    const rocksdb::Snapshot* at) {
  DoNotCountComparisons();
  // In slices, so that a large batch does not pin as many blocks.
  constexpr size_t kSlice = 256;
  rocksdb::ReadOptions options;
  options.snapshot = at;
  std::vector<std::optional<std::string>> values(keys.size());
  std::array<rocksdb::Slice, kSlice> slices;
  std::array<rocksdb::PinnableSlice, kSlice> pinned;
  std::array<rocksdb::Status, kSlice> statuses;
  for (size_t begin = 0; begin < keys.size(); begin += kSlice) {
    const size_t count = std::min(kSlice, keys.size() - begin);
    for (size_t i = 0; i < count; ++i) slices[i] = keys[begin + i];
    db_->MultiGet(options, this->column(column), count, slices.data(),
                  pinned.data(), statuses.data(), /*sorted_input=*/true);
    for (size_t i = 0; i < count; ++i) {
      if (statuses[i].ok()) {
        values[begin + i].emplace(pinned[i].data(), pinned[i].size());
      } else if (!statuses[i].IsNotFound()) {
        return FromRocksDb(statuses[i], "reading rows");
      }
      pinned[i].Reset();
    }
  }
  return values;
}

absl::StatusOr<proto::PageRecord> Store::GetPage(std::string_view page,
                                                 const rocksdb::Snapshot* at) {
  absl::StatusOr<std::string> bytes = Get(Column::kPages, page, at);
  if (!bytes.ok()) return bytes.status();
  return DecodePage(*bytes);
}

absl::StatusOr<std::vector<std::optional<proto::PageRecord>>> Store::GetPages(
    const std::vector<std::string_view>& pages) {
  const std::vector<std::string> keys(pages.begin(), pages.end());
  auto rows = MultiGet(Column::kPages, keys);
  if (!rows.ok()) return rows.status();
  std::vector<std::optional<proto::PageRecord>> records(pages.size());
  for (size_t i = 0; i < pages.size(); ++i) {
    if (!(*rows)[i].has_value()) continue;
    absl::StatusOr<proto::PageRecord> record = DecodePage(*(*rows)[i]);
    if (!record.ok()) return record.status();
    records[i] = *std::move(record);
  }
  return records;
}

void Store::Put(Edit& edit, Column column, std::string_view key,
                std::string_view value) {
  edit.batch.Put(this->column(column), ToSlice(key), ToSlice(value));
}

void Store::PutMessage(Edit& edit, Column column, std::string_view key,
                       const google::protobuf::MessageLite& message) {
  Put(edit, column, key, message.SerializeAsString());
}

void Store::Delete(Edit& edit, Column column, std::string_view key) {
  edit.batch.Delete(this->column(column), ToSlice(key));
}

namespace {

void AddCounts(const proto::RoundCounts& more, proto::RoundCounts& counts) {
  counts.set_fetched(counts.fetched() + more.fetched());
  counts.set_unchanged(counts.unchanged() + more.unchanged());
  counts.set_moved(counts.moved() + more.moved());
  counts.set_gone(counts.gone() + more.gone());
  counts.set_failed(counts.failed() + more.failed());
  counts.set_blocked(counts.blocked() + more.blocked());
  counts.set_released(counts.released() + more.released());
  counts.set_bytes(counts.bytes() + more.bytes());
  counts.set_found(counts.found() + more.found());
  counts.set_added(counts.added() + more.added());
  counts.set_deferred(counts.deferred() + more.deferred());
  counts.set_dropped_urls(counts.dropped_urls() + more.dropped_urls());
  counts.set_sent(counts.sent() + more.sent());
  counts.set_sent_cash(counts.sent_cash() + more.sent_cash());
  counts.set_sent_before(counts.sent_before() + more.sent_before());
  counts.set_gained_cash(counts.gained_cash() + more.gained_cash());
  counts.set_max_lag_us(std::max(counts.max_lag_us(), more.max_lag_us()));
  counts.set_held_back_us(counts.held_back_us() + more.held_back_us());
  counts.set_released_awake(counts.released_awake() + more.released_awake());
  for (const auto& [reason, cash] : more.dropped()) {
    (*counts.mutable_dropped())[reason] += cash;
  }
  for (const auto& [kind, pages] : more.failures()) {
    (*counts.mutable_failures())[kind] += pages;
  }
  for (const auto& [site, urls] : more.sent_to()) {
    (*counts.mutable_sent_to())[site] += urls;
  }
  for (const auto& [phase, us] : more.phase_us()) {
    (*counts.mutable_phase_us())[phase] += us;
  }
}

}  // namespace

absl::Status Store::Commit(Edit& edit, bool sync) {
  DoNotCountComparisons();
  for (const auto& [host, change] : edit.host_pages) {
    if (change == 0) continue;
    edit.batch.Merge(column(Column::kHosts), keys::HostPages(host),
                     EncodeCount(change));
  }
  if (edit.journal.has_value() && edit.counts.ByteSizeLong() == 0) {
    PutMessage(edit, Column::kRounds, keys::Journal(), *edit.journal);
  }

  MutexLock lock(&commit_mu_);
  if (!broken_.ok()) return broken_;
  Totals next = totals_;
  next.Add(edit.delta);
  const bool has_counts = edit.counts.ByteSizeLong() > 0;
  if (edit.last_target > journal_.last_target() || has_counts) {
    if (!edit.journal.has_value()) edit.journal = journal_;
    edit.journal->set_last_target(
        std::max(edit.last_target, journal_.last_target()));
    AddCounts(edit.counts, *edit.journal->mutable_counts());
    PutMessage(edit, Column::kRounds, keys::Journal(), *edit.journal);
  }
  if (next != totals_) {
    PutMessage(edit, Column::kMeta, keys::kTotals, next.ToProto());
  }
  rocksdb::WriteOptions options;
  options.sync = sync;
  // Verbs write in key order, column by column.
  options.memtable_insert_hint_per_batch = true;
  const rocksdb::Status status = db_->Write(options, &edit.batch);
  if (!status.ok()) {
    const absl::Status error = FromRocksDb(status, "writing to the crawl DB");
    broken_ = absl::Status(
        error.code(),
        std::string(error.message()) +
            " (nothing more is written until the crawl DB is opened again)");
    return error;
  }
  totals_ = std::move(next);
  if (edit.journal.has_value()) journal_ = *std::move(edit.journal);
  schedule_floor_ms_ = std::min(schedule_floor_ms_, edit.earliest_ready_ms);
  for (const auto& page : edit.claimed) {
    ClaimedOf(page).insert(Hash128(page));
  }
  for (const auto& page : edit.unclaimed) {
    ClaimedOf(page).erase(Hash128(page));
  }
  for (const auto& [host, until] : edit.resting) {
    const bool is_new =
        RestingOf(host).insert_or_assign(Hash128(host), until).second;
    if (is_new) ++resting_hosts_;
  }
  for (const auto& host : edit.awake) {
    resting_hosts_ -=
        static_cast<int64_t>(RestingOf(host).erase(Hash128(host)));
  }
  return absl::OkStatus();
}

Totals Store::totals() const {
  MutexLock lock(&commit_mu_);
  return totals_;
}

proto::RoundJournal Store::journal() const {
  MutexLock lock(&commit_mu_);
  return journal_;
}

bool Store::IsClaimed(std::string_view page) {
  return ClaimedOf(page).contains(Hash128(page));
}

bool Store::IsResting(std::string_view host) {
  const auto& resting = RestingOf(host);
  const auto it = resting.find(Hash128(host));
  return it != resting.end() && it->second != kWakingMs;
}

bool Store::HasPagesAside(std::string_view host) {
  return RestingOf(host).contains(Hash128(host));
}

int64_t Store::schedule_floor_ms() const {
  MutexLock lock(&commit_mu_);
  return schedule_floor_ms_;
}

void Store::SetScheduleFloor(int64_t ms) {
  MutexLock lock(&commit_mu_);
  schedule_floor_ms_ = ms;
}

StripeLocks::StripeLocks(Store& store) : store_(store) {
  locked_.fill(true);
  Lock();
}

StripeLocks::StripeLocks(Store& store,
                         const std::vector<std::string_view>& pages)
    : store_(store) {
  for (std::string_view page : pages) locked_[Store::StripeOf(page)] = true;
  Lock();
}

// The set of locks is known only at run time, which the analysis cannot follow.
void StripeLocks::Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (size_t i = 0; i < locked_.size(); ++i) {
    if (locked_[i]) store_.stripe_mutex(i).Lock();
  }
}

StripeLocks::~StripeLocks() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (size_t i = 0; i < locked_.size(); ++i) {
    if (locked_[i]) store_.stripe_mutex(i).Unlock();
  }
}

}  // namespace gannet::storage
