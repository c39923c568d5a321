#include "storage/engine/memory_store.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "storage/engine/count.h"
#include "storage/mutex.h"

namespace gannet::storage {
namespace {

using Rows = std::map<std::string, std::string, std::less<>>;

// What a batch has changed, to take it back.
struct Undo {
  ColumnId column{0};
  std::string key;
  std::optional<std::string> value;
};

struct Written {
  Batch batch;
  uint64_t number = 0;
  std::vector<Undo> undo;
};

}  // namespace

struct MemoryDisk::State {
  explicit State(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      columns.push_back(std::make_shared<Rows>());
    }
  }

  // A reader holds a reference to the rows as they are: then they are copied
  // before a write. References are dropped under the lock only, so that the
  // count is exact.
  Rows& Writable(ColumnId column) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    std::shared_ptr<Rows>& rows = columns[column.index];
    if (rows.use_count() > 1) rows = std::make_shared<Rows>(*rows);
    return *rows;
  }

  mutable Mutex mu;
  std::vector<std::shared_ptr<Rows>> columns ABSL_GUARDED_BY(mu);
  std::vector<Written> log ABSL_GUARDED_BY(mu);
  size_t synced ABSL_GUARDED_BY(mu) = 0;  // The first so many of the log.
  absl::Status refuses ABSL_GUARDED_BY(mu);
  absl::Status unreadable ABSL_GUARDED_BY(mu);
  ColumnId unreadable_column ABSL_GUARDED_BY(mu){0};
  std::atomic<int64_t> seeks = 0;
  std::function<void()> after_write ABSL_GUARDED_BY(mu);
};

namespace {

using State = MemoryDisk::State;

// Carries a batch out, and notes how to take it back.
class Applier : public Batch::Visitor {
 public:
  Applier(State& state, std::vector<Undo>& undo) : state_(state), undo_(undo) {}

  // REQUIRES, for these: the state is locked, which a visitor cannot declare.
  void Put(ColumnId column, std::string_view key,
           std::string_view value) override {
    Set(column, key, std::string(value));
  }
  void Delete(ColumnId column, std::string_view key) override {
    Set(column, key, std::nullopt);
  }
  void DeleteRange(ColumnId column, std::string_view from, std::string_view to)
      override ABSL_NO_THREAD_SAFETY_ANALYSIS {
    Rows& rows = state_.Writable(column);
    const auto begin = rows.lower_bound(from);
    const auto end = rows.lower_bound(to);
    for (auto row = begin; row != end; ++row) {
      undo_.push_back({column, row->first, std::move(row->second)});
    }
    rows.erase(begin, end);
  }
  void AddCount(ColumnId column, std::string_view key,
                int64_t change) override ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const Rows& rows = state_.Writable(column);
    const auto row = rows.find(key);
    const int64_t before = row == rows.end() ? 0 : DecodeCount(row->second);
    Set(column, key, EncodeCount(before + change));
  }

 private:
  void Set(ColumnId column, std::string_view key,
           std::optional<std::string> value) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    Rows& rows = state_.Writable(column);
    const auto row = rows.find(key);
    Undo& undo = undo_.emplace_back(Undo{column, std::string(key), {}});
    if (row != rows.end()) undo.value = std::move(row->second);
    if (!value.has_value()) {
      if (row != rows.end()) rows.erase(row);
    } else if (row != rows.end()) {
      row->second = *std::move(value);
    } else {
      rows.emplace(std::string(key), *std::move(value));
    }
  }

  State& state_;
  std::vector<Undo>& undo_;
};

class MemorySnapshot : public Snapshot {
 public:
  explicit MemorySnapshot(std::shared_ptr<State> state)
      : state_(std::move(state)) {
    MutexLock lock(&state_->mu);
    columns_ = {state_->columns.begin(), state_->columns.end()};
    number_ = state_->log.empty() ? 0 : state_->log.back().number;
  }
  ~MemorySnapshot() override {
    MutexLock lock(&state_->mu);
    columns_.clear();
  }
  uint64_t number() const override { return number_; }
  const std::shared_ptr<const Rows>& rows(ColumnId column) const {
    return columns_[column.index];
  }

 private:
  std::shared_ptr<State> state_;
  std::vector<std::shared_ptr<const Rows>> columns_;
  uint64_t number_ = 0;
};

class MemoryCursor : public Cursor {
 public:
  MemoryCursor(std::shared_ptr<State> state, ColumnId column, KeyRange range,
               const Snapshot* at)
      : state_(std::move(state)), range_(std::move(range)) {
    MutexLock lock(&state_->mu);
    rows_ = at != nullptr ? static_cast<const MemorySnapshot*>(at)->rows(column)
                          : state_->columns[column.index];
    row_ = rows_->end();
  }
  ~MemoryCursor() override {
    MutexLock lock(&state_->mu);
    rows_.reset();
  }

  void Seek(std::string_view key) override {
    ++state_->seeks;
    row_ = rows_->lower_bound(std::max<std::string_view>(key, range_.from));
  }
  void Next() override { ++row_; }
  bool Valid() const override {
    return row_ != rows_->end() &&
           (range_.to.empty() || row_->first < range_.to);
  }
  std::string_view key() const override { return row_->first; }
  std::string_view value() const override { return row_->second; }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  std::shared_ptr<State> state_;
  KeyRange range_;
  std::shared_ptr<const Rows> rows_;
  Rows::const_iterator row_;
};

class MemoryStore : public OrderedStore {
 public:
  explicit MemoryStore(std::shared_ptr<State> state)
      : state_(std::move(state)) {}

  absl::StatusOr<std::string> Get(ColumnId column, std::string_view key,
                                  const Snapshot* at) override {
    MutexLock lock(&state_->mu);
    if (column == state_->unreadable_column && !state_->unreadable.ok()) {
      return state_->unreadable;
    }
    const Rows& rows = *RowsAt(column, at);
    const auto row = rows.find(key);
    if (row == rows.end()) return absl::NotFoundError("no such row");
    return row->second;
  }

  absl::StatusOr<std::vector<std::optional<std::string>>> MultiGet(
      ColumnId column, const std::vector<std::string_view>& keys,
      const Snapshot* at) override {
    MutexLock lock(&state_->mu);
    if (column == state_->unreadable_column && !state_->unreadable.ok()) {
      return state_->unreadable;
    }
    const Rows& rows = *RowsAt(column, at);
    std::vector<std::optional<std::string>> values(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto row = rows.find(keys[i]);
      if (row != rows.end()) values[i] = row->second;
    }
    return values;
  }

  std::unique_ptr<Cursor> NewCursor(ColumnId column, const KeyRange& range,
                                    const ReadOptions& options) override {
    return std::make_unique<MemoryCursor>(state_, column, range, options.at);
  }

  absl::Status Write(const Batch& batch) override {
    std::function<void()> after_write;
    {
      MutexLock lock(&state_->mu);
      if (!state_->refuses.ok()) return state_->refuses;
      const uint64_t number =
          state_->log.empty() ? 1 : state_->log.back().number + 1;
      Written written{batch, number, {}};
      Applier applier(*state_, written.undo);
      batch.Visit(applier);
      state_->log.push_back(std::move(written));
      after_write = state_->after_write;
    }
    if (after_write) after_write();
    return absl::OkStatus();
  }

  absl::Status Sync() override {
    MutexLock lock(&state_->mu);
    if (!state_->refuses.ok()) return state_->refuses;
    for (; state_->synced < state_->log.size(); ++state_->synced) {
      state_->log[state_->synced].undo.clear();
    }
    return absl::OkStatus();
  }

  std::unique_ptr<Snapshot> TakeSnapshot() override {
    return std::make_unique<MemorySnapshot>(state_);
  }

  absl::Status ForEachChange(
      uint64_t since, uint64_t until, Batch::Visitor& visitor,
      const std::function<absl::Status()>& after_batch) override {
    std::vector<Batch> batches;
    {
      MutexLock lock(&state_->mu);
      for (const Written& written : state_->log) {
        if (written.number > since && written.number <= until) {
          batches.push_back(written.batch);
        }
      }
    }
    for (const Batch& batch : batches) {
      batch.Visit(visitor);
      if (absl::Status s = after_batch(); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  absl::Status Checkpoint(const std::string& /*to*/) override {
    return absl::UnimplementedError("a store in memory has no files to copy");
  }
  absl::Status Flush(ColumnId /*column*/) override { return absl::OkStatus(); }
  uint64_t ApproximateBytes(ColumnId column, const KeyRange& range) override {
    uint64_t bytes = 0;
    (void)ForEachRow(*this, column, range, [&](auto key, auto value) {
      bytes += key.size() + value.size();
      return true;
    });
    return bytes;
  }

 private:
  const Rows* RowsAt(ColumnId column, const Snapshot* at)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_->mu) {
    return at != nullptr
               ? static_cast<const MemorySnapshot*>(at)->rows(column).get()
               : state_->columns[column.index].get();
  }

  std::shared_ptr<State> state_;
};

}  // namespace

MemoryDisk::MemoryDisk(size_t columns)
    : state_(std::make_shared<State>(columns)) {}
MemoryDisk::~MemoryDisk() = default;

std::unique_ptr<OrderedStore> MemoryDisk::Open() {
  return std::make_unique<MemoryStore>(state_);
}

size_t MemoryDisk::batches() const {
  MutexLock lock(&state_->mu);
  return state_->log.size();
}

size_t MemoryDisk::unsynced_batches() const {
  MutexLock lock(&state_->mu);
  return state_->log.size() - state_->synced;
}

void MemoryDisk::CutPower(size_t kept) {
  MutexLock lock(&state_->mu);
  while (state_->log.size() > state_->synced + kept) {
    std::vector<Undo>& undo = state_->log.back().undo;
    for (auto change = undo.rbegin(); change != undo.rend(); ++change) {
      Rows& rows = state_->Writable(change->column);
      if (change->value.has_value()) {
        rows.insert_or_assign(change->key, *std::move(change->value));
      } else {
        rows.erase(change->key);
      }
    }
    state_->log.pop_back();
  }
  state_->synced = state_->log.size();
}

void MemoryDisk::FailWritesWith(absl::Status status) {
  MutexLock lock(&state_->mu);
  state_->refuses = std::move(status);
}

void MemoryDisk::FailLookUpsWith(absl::Status status, ColumnId column) {
  MutexLock lock(&state_->mu);
  state_->unreadable = std::move(status);
  state_->unreadable_column = column;
}

void MemoryDisk::CallAfterWrites(std::function<void()> call) {
  MutexLock lock(&state_->mu);
  state_->after_write = std::move(call);
}

int64_t MemoryDisk::seeks() const { return state_->seeks; }

}  // namespace gannet::storage
