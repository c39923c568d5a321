#include "storage/crawl_db/changed_rows.h"

#include <utility>

namespace gannet::storage {
namespace {

constexpr size_t kChunk = 100'000;

class Collector : public Batch::Visitor {
 public:
  void Put(ColumnId column, std::string_view key, std::string_view) override {
    Note(column, key);
  }
  void Delete(ColumnId column, std::string_view key) override {
    Note(column, key);
  }

  ChangedRows Take() { return std::exchange(changed_, {}); }
  size_t size() const { return changed_.pages.size() + changed_.rows.size(); }

 private:
  void Note(ColumnId id, std::string_view key) {
    if (key.empty()) return;
    uint8_t step = 0;
    int64_t ready_ms = 0;
    std::string_view page;
    std::string aside;
    if (id == Column::kPages) {
      changed_.pages.emplace(key);
      return;
    }
    if (id == Column::kFrontier) {
      if (keys::ParseRestingFrontier(key, step, aside)) {
        page = aside;
      } else if (!keys::ParseActiveFrontier(key, step, page)) {
        return;
      }
    } else if (id == Column::kSchedule) {
      if (key[0] != 'p' || !keys::ParseSchedule(key, ready_ms, page)) {
        return;
      }
    } else if (id == Column::kRounds && key[0] == 'f') {
      page = key.substr(1);
    } else {
      return;
    }
    changed_.pages.emplace(page);
    changed_.rows.emplace(static_cast<Column>(id.index), key, page);
  }

  ChangedRows changed_;
};

}  // namespace

absl::Status ForEachChanged(
    Store& store, uint64_t since, uint64_t until,
    const std::function<absl::Status(const ChangedRows&)>& check) {
  Collector changed;
  absl::Status status =
      store.engine().ForEachChange(since, until, changed, [&] {
        return changed.size() < kChunk ? absl::OkStatus()
                                       : check(changed.Take());
      });
  if (!status.ok()) return status;
  return check(changed.Take());
}

}  // namespace gannet::storage
