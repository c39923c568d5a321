#include "storage/crawl_db/changed_rows.h"

#include <rocksdb/transaction_log.h>

#include <map>
#include <utility>

namespace gannet::storage {
namespace {

constexpr size_t kChunk = 100'000;

class Collector : public rocksdb::WriteBatch::Handler {
 public:
  explicit Collector(Store& store) {
    for (Column column : {Column::kPages, Column::kFrontier, Column::kSchedule,
                          Column::kRounds}) {
      columns_[store.column(column)->GetID()] = column;
    }
  }

  rocksdb::Status PutCF(uint32_t id, const rocksdb::Slice& key,
                        const rocksdb::Slice&) override {
    return Note(id, {key.data(), key.size()});
  }
  rocksdb::Status DeleteCF(uint32_t id, const rocksdb::Slice& key) override {
    return Note(id, {key.data(), key.size()});
  }
  rocksdb::Status MergeCF(uint32_t, const rocksdb::Slice&,
                          const rocksdb::Slice&) override {
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteRangeCF(uint32_t, const rocksdb::Slice&,
                                const rocksdb::Slice&) override {
    return rocksdb::Status::OK();
  }

  ChangedRows Take() { return std::exchange(changed_, {}); }
  size_t size() const { return changed_.pages.size() + changed_.rows.size(); }

 private:
  rocksdb::Status Note(uint32_t id, std::string_view key) {
    const auto found = columns_.find(id);
    if (found == columns_.end() || key.empty()) return rocksdb::Status::OK();
    const Column column = found->second;
    uint8_t step = 0;
    int64_t ready_ms = 0;
    std::string_view page;
    std::string aside;
    if (column == Column::kPages) {
      changed_.pages.emplace(key);
      return rocksdb::Status::OK();
    }
    if (column == Column::kFrontier) {
      if (keys::ParseRestingFrontier(key, step, aside)) {
        page = aside;
      } else if (!keys::ParseActiveFrontier(key, step, page)) {
        return rocksdb::Status::OK();
      }
    } else if (column == Column::kSchedule) {
      if (key[0] != 'p' || !keys::ParseSchedule(key, ready_ms, page)) {
        return rocksdb::Status::OK();
      }
    } else if (key[0] == 'f') {
      page = key.substr(1);
    } else {
      return rocksdb::Status::OK();
    }
    changed_.pages.emplace(page);
    changed_.rows.emplace(column, key, page);
    return rocksdb::Status::OK();
  }

  std::map<uint32_t, Column> columns_;
  ChangedRows changed_;
};

}  // namespace

absl::Status ForEachChanged(
    Store& store, uint64_t since, uint64_t until,
    const std::function<absl::Status(const ChangedRows&)>& check) {
  Collector changed(store);
  if (since < until) {
    std::unique_ptr<rocksdb::TransactionLogIterator> log;
    rocksdb::Status status = store.db().GetUpdatesSince(since + 1, &log);
    if (!status.ok()) return absl::NotFoundError(status.ToString());
    bool first = true;
    for (; log->Valid(); log->Next()) {
      const rocksdb::BatchResult batch = log->GetBatch();
      if (first && batch.sequence > since + 1) {
        return absl::NotFoundError("the log begins later");
      }
      first = false;
      if (batch.sequence > until) break;
      status = batch.writeBatchPtr->Iterate(&changed);
      if (!status.ok()) return FromRocksDb(status, "reading the log");
      if (changed.size() >= kChunk) {
        if (absl::Status s = check(changed.Take()); !s.ok()) return s;
      }
    }
    // A log that ends early says so here; then all pages are looked at.
    if (!log->status().ok()) {
      return absl::NotFoundError(log->status().ToString());
    }
  }
  return check(changed.Take());
}

}  // namespace gannet::storage
