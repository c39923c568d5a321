#include "storage/engine/rocks_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>

#include <algorithm>
#include <cstdarg>

#include "storage/engine/count.h"

namespace gannet::storage {
namespace {

class AddCounts : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice& /*key*/, const rocksdb::Slice* existing,
             const rocksdb::Slice& operand, std::string* merged,
             rocksdb::Logger* /*logger*/) const override {
    const int64_t before =
        existing ? DecodeCount({existing->data(), existing->size()}) : 0;
    *merged =
        EncodeCount(before + DecodeCount({operand.data(), operand.size()}));
    return true;
  }
  const char* Name() const override { return "gannet.AddCounts"; }
};

// RocksDB's own log goes nowhere. Its file would lie on the same disk, and
// Debian's RocksDB is built with assertions: on a full disk the failed log line
// itself aborts the process. What matters comes back as a status.
class NoLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

rocksdb::ColumnFamilyOptions Common(
    const std::shared_ptr<rocksdb::Cache>& cache, const StoreMemory& memory) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = 8 << 10;
  table.format_version = 5;
  // Index and filter blocks stay with their table readers: some 2 MB per
  // million pages, and a look-up then costs one block at most.
  table.cache_index_and_filter_blocks = false;

  rocksdb::ColumnFamilyOptions options;
  // A quarter of what all columns have together: an empty one takes an eighth
  // of this (and a filter's part), so that eight small ones leave most to the
  // large.
  options.write_buffer_size =
      std::min<uint64_t>(32 << 20, memory.write_buffer_bytes / 4);
  options.target_file_size_base = 32 << 20;
  options.level_compaction_dynamic_level_bytes = true;
  options.compression = rocksdb::kLZ4Compression;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// Point look-ups of keys that are often absent.
void AddFilter(rocksdb::ColumnFamilyOptions& options) {
  auto* table =
      options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  table->filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  // The write buffer is asked first, and a look-up in its skip list costs some
  // 20 comparisons of long keys; most of what is asked for is not there.
  options.memtable_whole_key_filtering = true;
  options.memtable_prefix_bloom_size_ratio = 0.02;
}

// Columns used as queues are consumed from the front and would leave a reader
// thousands of tombstones to step over: a file that is half deletions is
// compacted at once.
void CompactOnDeletions(rocksdb::ColumnFamilyOptions& options) {
  options.table_properties_collector_factories.push_back(
      rocksdb::NewCompactOnDeletionCollectorFactory(
          /*sliding_window_size=*/4096, /*deletion_trigger=*/2048));
}

void AddCounters(rocksdb::ColumnFamilyOptions& options) {
  options.merge_operator = std::make_shared<AddCounts>();
  // A row that is counted again and again would pile up operands.
  options.max_successive_merges = 32;
}

// In a block with what is asked for all the time, a value of megabytes would be
// read and unpacked with each look: too large for any cache's shard. 20 idle
// sites on two cores took all of both.
void SeparateLargeValues(rocksdb::ColumnFamilyOptions& options) {
  options.enable_blob_files = true;
  options.min_blob_size = 64 << 10;
  options.enable_blob_garbage_collection = true;
  options.blob_garbage_collection_age_cutoff = 1.0;
}

}  // namespace

rocksdb::DBOptions MakeDbOptions(const StoreMemory& memory) {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.paranoid_checks = true;
  options.max_background_jobs = 2;
  options.db_write_buffer_size = memory.write_buffer_bytes;
  if (memory.max_open_files.has_value()) {
    options.max_open_files =
        static_cast<int>(std::min<size_t>(*memory.max_open_files, 1'000'000));
  }
  options.max_total_wal_size = 512 << 20;
  // The write-ahead log of the last batches stays for a while: ForEachChange()
  // reads from it what changed.
  options.WAL_size_limit_MB = 512;
  options.info_log = std::make_shared<NoLog>();
  options.stats_dump_period_sec = 0;
  options.bytes_per_sync = 1 << 20;
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> MakeColumnOptions(
    absl::Span<const ColumnTraits> columns, const StoreMemory& memory) {
  const auto cache = rocksdb::NewLRUCache(memory.block_cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const ColumnTraits& column : columns) {
    rocksdb::ColumnFamilyOptions options = Common(cache, memory);
    if (column.looks_up_absent_keys) AddFilter(options);
    if (column.is_queue) CompactOnDeletions(options);
    if (column.has_counters) AddCounters(options);
    if (column.has_large_values) SeparateLargeValues(options);
    descriptors.emplace_back(
        descriptors.empty() ? rocksdb::kDefaultColumnFamilyName : column.name,
        options);
  }
  return descriptors;
}

}  // namespace gannet::storage
