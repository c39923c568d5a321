// Which pages and which rows about pages were written since a moment, read from
// RocksDB's write-ahead log: what an incremental Verify must look at. Private
// to this room.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

struct ChangedRows {
  std::set<std::string> pages;
  // Rows of frontier, schedule and fetch list, each with its page.
  std::set<std::tuple<Column, std::string, std::string>> rows;
};

// Calls `check` with what was written after the sequence number `since` and up
// to `until`, a bounded chunk at a time, at least once. kNotFound if the log no
// longer reaches back that far.
absl::Status ForEachChanged(
    Store& store, uint64_t since, uint64_t until,
    const std::function<absl::Status(const ChangedRows&)>& check);

}  // namespace gannet::storage
