// The columns of the crawl DB and every RocksDB option that we set: nowhere
// else is RocksDB tuned. What was measured stands beside the option.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gannet::storage {

// Indexes into the vectors below. `meta` is RocksDB's mandatory default column.
enum class Column : size_t {
  kMeta,
  kPages,
  kFrontier,
  kSchedule,
  kHosts,
  kRounds,
  kDeferred,
  kOutbox,
};
inline constexpr size_t kColumns = 8;

struct StoreMemory {
  uint64_t block_cache_bytes = 128 << 20;
  uint64_t write_buffer_bytes = 96 << 20;  // Of all columns together.
};

rocksdb::DBOptions MakeDbOptions(const StoreMemory& memory);

// In the order of Column; all share one block cache.
std::vector<rocksdb::ColumnFamilyDescriptor> MakeColumns(
    const StoreMemory& memory);

// A counter's merge operand and value: a little-endian int64 that is added.
std::string EncodeCount(int64_t count);
int64_t DecodeCount(std::string_view bytes);

}  // namespace gannet::storage
