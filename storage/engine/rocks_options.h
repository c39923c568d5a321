// Every RocksDB option that we set: nowhere else is RocksDB tuned. What was
// measured stands beside the option.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <vector>

#include "absl/types/span.h"
#include "storage/engine/ordered_store.h"
#include "storage/engine/rocks_store.h"

namespace gannet::storage {

rocksdb::DBOptions MakeDbOptions(const StoreMemory& memory);

// In the order of `columns`, of which the first is RocksDB's default column;
// all share one block cache.
std::vector<rocksdb::ColumnFamilyDescriptor> MakeColumnOptions(
    absl::Span<const ColumnTraits> columns, const StoreMemory& memory);

}  // namespace gannet::storage
