#include "storage/engine/rocks_store.h"

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/transaction_log.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <utility>

#include "storage/engine/count.h"
#include "storage/engine/rocks_options.h"

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
std::string_view ToView(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
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

class RocksSnapshot : public Snapshot {
 public:
  explicit RocksSnapshot(rocksdb::DB& db) : db_(db), at_(db.GetSnapshot()) {}
  ~RocksSnapshot() override { db_.ReleaseSnapshot(at_); }
  uint64_t number() const override { return at_->GetSequenceNumber(); }
  const rocksdb::Snapshot* at() const { return at_; }

 private:
  rocksdb::DB& db_;
  const rocksdb::Snapshot* at_;
};

const rocksdb::Snapshot* At(const Snapshot* snapshot) {
  return snapshot == nullptr
             ? nullptr
             : static_cast<const RocksSnapshot*>(snapshot)->at();
}

class RocksCursor : public Cursor {
 public:
  RocksCursor(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* column,
              const KeyRange& range, const ReadOptions& wanted)
      : column_(column), range_(range), end_(range_.to) {
    rocksdb::ReadOptions options;
    options.snapshot = At(wanted.at);
    options.readahead_size = wanted.read_ahead_bytes;
    options.fill_cache = wanted.fill_cache;
    // With a bound, RocksDB does not step over what was deleted behind it.
    if (!range_.to.empty()) options.iterate_upper_bound = &end_;
    it_.reset(db.NewIterator(options, column));
  }

  void Seek(std::string_view key) override {
    it_->Seek(ToSlice(std::max<std::string_view>(key, range_.from)));
  }
  void Next() override { it_->Next(); }
  bool Valid() const override { return it_->Valid(); }
  std::string_view key() const override { return ToView(it_->key()); }
  std::string_view value() const override { return ToView(it_->value()); }
  absl::Status status() const override {
    return FromRocksDb(it_->status(), "reading " + column_->GetName());
  }

 private:
  rocksdb::ColumnFamilyHandle* const column_;
  const KeyRange range_;
  const rocksdb::Slice end_;
  std::unique_ptr<rocksdb::Iterator> it_;
};

constexpr size_t kBatchHeaderBytes = 64;  // Or less.

// Our batch as one of RocksDB's.
class BatchWriter : public Batch::Visitor {
 public:
  BatchWriter(const std::vector<rocksdb::ColumnFamilyHandle*>& columns,
              size_t bytes)
      : batch(bytes), columns_(columns) {}

  void Put(ColumnId column, std::string_view key,
           std::string_view value) override {
    batch.Put(columns_[column.index], ToSlice(key), ToSlice(value));
  }
  void Delete(ColumnId column, std::string_view key) override {
    batch.Delete(columns_[column.index], ToSlice(key));
  }
  void DeleteRange(ColumnId column, std::string_view from,
                   std::string_view to) override {
    batch.DeleteRange(columns_[column.index], ToSlice(from), ToSlice(to));
  }
  void AddCount(ColumnId column, std::string_view key,
                int64_t change) override {
    batch.Merge(columns_[column.index], ToSlice(key), EncodeCount(change));
  }

  rocksdb::WriteBatch batch;

 private:
  const std::vector<rocksdb::ColumnFamilyHandle*>& columns_;
};

// The other way: what RocksDB's log holds, for a visitor of ours. The columns'
// ids are their places in the list that the store was opened with, unless it
// was made by hand.
class BatchReader : public rocksdb::WriteBatch::Handler {
 public:
  BatchReader(const std::vector<rocksdb::ColumnFamilyHandle*>& columns,
              Batch::Visitor& visitor)
      : columns_(columns), visitor_(visitor) {}

  rocksdb::Status PutCF(uint32_t id, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override {
    visitor_.Put(Column(id), ToView(key), ToView(value));
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t id, const rocksdb::Slice& key) override {
    visitor_.Delete(Column(id), ToView(key));
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteRangeCF(uint32_t id, const rocksdb::Slice& from,
                                const rocksdb::Slice& to) override {
    visitor_.DeleteRange(Column(id), ToView(from), ToView(to));
    return rocksdb::Status::OK();
  }
  rocksdb::Status MergeCF(uint32_t id, const rocksdb::Slice& key,
                          const rocksdb::Slice& change) override {
    visitor_.AddCount(Column(id), ToView(key), DecodeCount(ToView(change)));
    return rocksdb::Status::OK();
  }

 private:
  ColumnId Column(uint32_t id) const {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i]->GetID() == id) return ColumnId(i);
    }
    return ColumnId(columns_.size());  // Not a column of ours.
  }

  const std::vector<rocksdb::ColumnFamilyHandle*>& columns_;
  Batch::Visitor& visitor_;
};

class RocksStore : public OrderedStore {
 public:
  RocksStore(std::unique_ptr<rocksdb::DB> db,
             std::vector<rocksdb::ColumnFamilyHandle*> columns)
      : db_(std::move(db)), columns_(std::move(columns)) {}

  ~RocksStore() override {
    for (auto* column : columns_) db_->DestroyColumnFamilyHandle(column);
    db_->Close();
  }

  absl::StatusOr<std::string> Get(ColumnId column, std::string_view key,
                                  const Snapshot* at) override {
    rocksdb::ReadOptions options;
    options.snapshot = At(at);
    std::string value;
    const rocksdb::Status status =
        db_->Get(options, columns_[column.index], ToSlice(key), &value);
    if (!status.ok()) return FromRocksDb(status, "reading a row");
    return value;
  }

  absl::StatusOr<std::vector<std::optional<std::string>>> MultiGet(
      ColumnId column, const std::vector<std::string_view>& keys,
      const Snapshot* at) override {
    DoNotCountComparisons();
    // In slices, so that a large batch does not pin as many blocks.
    constexpr size_t kSlice = 256;
    rocksdb::ReadOptions options;
    options.snapshot = At(at);
    std::vector<std::optional<std::string>> values(keys.size());
    std::array<rocksdb::Slice, kSlice> slices;
    std::array<rocksdb::PinnableSlice, kSlice> pinned;
    std::array<rocksdb::Status, kSlice> statuses;
    for (size_t begin = 0; begin < keys.size(); begin += kSlice) {
      const size_t count = std::min(kSlice, keys.size() - begin);
      for (size_t i = 0; i < count; ++i) slices[i] = ToSlice(keys[begin + i]);
      db_->MultiGet(options, columns_[column.index], count, slices.data(),
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

  std::unique_ptr<Cursor> NewCursor(ColumnId column, const KeyRange& range,
                                    const ReadOptions& options) override {
    return std::make_unique<RocksCursor>(*db_, columns_[column.index], range,
                                         options);
  }

  absl::Status Write(const Batch& batch) override {
    DoNotCountComparisons();
    BatchWriter writer(columns_, batch.bytes() + kBatchHeaderBytes);
    batch.Visit(writer);
    rocksdb::WriteOptions options;
    // Batches are written in key order, column by column.
    options.memtable_insert_hint_per_batch = true;
    return FromRocksDb(db_->Write(options, &writer.batch),
                       "writing to the crawl DB");
  }

  absl::Status Sync() override {
    return FromRocksDb(db_->SyncWAL(), "syncing the crawl DB");
  }

  std::unique_ptr<Snapshot> TakeSnapshot() override {
    return std::make_unique<RocksSnapshot>(*db_);
  }

  absl::Status ForEachChange(
      uint64_t since, uint64_t until, Batch::Visitor& visitor,
      const std::function<absl::Status()>& after_batch) override {
    if (since >= until) return absl::OkStatus();
    std::unique_ptr<rocksdb::TransactionLogIterator> log;
    const rocksdb::Status found = db_->GetUpdatesSince(since + 1, &log);
    if (!found.ok()) return absl::NotFoundError(found.ToString());
    BatchReader reader(columns_, visitor);
    for (bool first = true; log->Valid(); log->Next(), first = false) {
      const rocksdb::BatchResult batch = log->GetBatch();
      if (first && batch.sequence > since + 1) {
        return absl::NotFoundError("the log begins later");
      }
      if (batch.sequence > until) break;
      const rocksdb::Status read = batch.writeBatchPtr->Iterate(&reader);
      if (!read.ok()) return FromRocksDb(read, "reading the log");
      if (absl::Status s = after_batch(); !s.ok()) return s;
    }
    if (!log->status().ok()) {  // It ended early.
      return absl::NotFoundError(log->status().ToString());
    }
    return absl::OkStatus();
  }

  absl::Status Checkpoint(const std::string& to) override {
    rocksdb::Checkpoint* made = nullptr;
    rocksdb::Status created = rocksdb::Checkpoint::Create(db_.get(), &made);
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    // What is in memory is written out first, so the copy needs no log.
    if (created.ok()) created = checkpoint->CreateCheckpoint(to);
    return FromRocksDb(created, "copying the crawl DB");
  }

  absl::Status Flush(ColumnId column) override {
    rocksdb::FlushOptions options;
    options.wait = false;
    options.allow_write_stall = true;  // Do not wait for room either.
    return FromRocksDb(db_->Flush(options, columns_[column.index]),
                       "flushing " + columns_[column.index]->GetName());
  }

  uint64_t ApproximateBytes(ColumnId column, const KeyRange& range) override {
    rocksdb::SizeApproximationOptions options;
    options.include_memtables = true;
    const rocksdb::Range rows(range.from, range.to);
    uint64_t bytes = 0;
    (void)db_->GetApproximateSizes(options, columns_[column.index], &rows, 1,
                                   &bytes);
    return bytes;
  }

 private:
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> columns_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OrderedStore>> OpenRocksStore(
    const std::string& folder, absl::Span<const ColumnTraits> columns,
    const StoreMemory& memory) {
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(MakeDbOptions(memory), folder,
                        MakeColumnOptions(columns, memory), &handles, &db);
  if (!status.ok()) return FromRocksDb(status, "cannot open " + folder);
  return std::make_unique<RocksStore>(std::unique_ptr<rocksdb::DB>(db),
                                      std::move(handles));
}

}  // namespace gannet::storage
