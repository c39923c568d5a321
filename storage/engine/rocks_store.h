// OpenRocksStore gives the OrderedStore of production: RocksDB in a folder. It
// is the only place that calls RocksDB, and turns its errors into our codes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "storage/engine/ordered_store.h"

namespace gannet::storage {

struct StoreMemory {
  uint64_t block_cache_bytes = 128 << 20;
  uint64_t write_buffer_bytes = 96 << 20;  // Of all columns together.
  // Tables kept open, of all columns; nothing: all of them. A large DB has
  // thousands; one that was closed is opened again when it is read.
  std::optional<size_t> max_open_files = std::nullopt;
};

// Makes the folder's store if there is none. kResourceExhausted: disk full.
// kDataLoss: damaged.
absl::StatusOr<std::unique_ptr<OrderedStore>> OpenRocksStore(
    const std::string& folder, absl::Span<const ColumnTraits> columns,
    const StoreMemory& memory);

}  // namespace gannet::storage
