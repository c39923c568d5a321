// OrderedStore is the engine under the crawl DB: columns of rows with ordered
// keys, atomic batches, snapshots, and a log of what was written. RocksDB is
// behind it in production (rocks_store.h); in tests of crashes a store that
// lives in memory and forgets what was not synced (memory_store.h).
//
// Every read that can fail says so in its status: a scan that ends early
// because the disk is damaged must not look like one that found no more rows.
// Codes: kResourceExhausted the disk is full, make room; kDataLoss damaged,
// restore a backup; kNotFound no such row.
//
// Thread-safe, but for a Cursor, which is one thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/engine/batch.h"

namespace gannet::storage {

// Hints about how a column is used. The name is on disk.
struct ColumnTraits {
  std::string name;
  // Point look-ups, often of keys that are absent.
  bool looks_up_absent_keys = false;
  // Rows are consumed from the front, and leave deletions behind there.
  bool is_queue = false;
  // Rows may be counters (Batch::AddCount).
  bool has_counters = false;
  // Some values have megabytes, beside small ones that are read all the time.
  bool has_large_values = false;
};

// The store as it was at one moment, while others write. Must not outlive it.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  // Grows with each write: tells what was written since (ForEachChange).
  virtual uint64_t number() const = 0;
};

struct ReadOptions {
  const Snapshot* at = nullptr;  // Nothing: as it is now.
  // For scans: how much to read ahead; 0: the engine decides.
  size_t read_ahead_bytes = 0;
  // False for a scan of everything, which would push out what others need.
  bool fill_cache = true;
};

// Rows of a column from `from` up to and without `to`; an empty `to` is the
// column's end.
struct KeyRange {
  std::string from;
  std::string to;
};

// The first key behind all that begin with `prefix`; empty if there is none.
std::string AfterPrefix(std::string_view prefix);
inline KeyRange PrefixRange(std::string_view prefix) {
  return {std::string(prefix), AfterPrefix(prefix)};
}

// Walks over the rows of a range, as they were when it was made. For callers
// that skip rows; to read row by row, call ForEachRow().
class Cursor {
 public:
  virtual ~Cursor() = default;
  // To the first row of the range whose key is not less than `key`.
  virtual void Seek(std::string_view key) = 0;
  virtual void Next() = 0;
  // False at the end of the range, and after an error.
  virtual bool Valid() const = 0;
  // REQUIRES: Valid(). They live until the cursor moves.
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  // Not OK: a row could not be read. Ask whenever Valid() has become false.
  virtual absl::Status status() const = 0;
};

class OrderedStore {
 public:
  virtual ~OrderedStore() = default;

  virtual absl::StatusOr<std::string> Get(ColumnId column, std::string_view key,
                                          const Snapshot* at = nullptr) = 0;
  // `keys` sorted; nullopt where there is no row.
  virtual absl::StatusOr<std::vector<std::optional<std::string>>> MultiGet(
      ColumnId column, const std::vector<std::string_view>& keys,
      const Snapshot* at = nullptr) = 0;

  // Has no position until Seek().
  virtual std::unique_ptr<Cursor> NewCursor(
      ColumnId column, const KeyRange& range,
      const ReadOptions& options = {}) = 0;

  // All of the batch or nothing. It outlives this process; a power cut only
  // with what Sync() has promised. After an error it is unknown whether the
  // batch was written.
  virtual absl::Status Write(const Batch& batch) = 0;
  // Everything written so far outlives a power cut.
  virtual absl::Status Sync() = 0;

  virtual std::unique_ptr<Snapshot> TakeSnapshot() = 0;
  // The writes after the snapshot `since` up to that of `until`, at least.
  // kNotFound if that is no longer known.
  virtual absl::Status ForEachChange(
      uint64_t since, uint64_t until, Batch::Visitor& visitor,
      const std::function<absl::Status()>& after_batch) = 0;

  // Copies the store into the new folder `to`, while others write.
  virtual absl::Status Checkpoint(const std::string& to) = 0;
  // A hint: much was deleted, and readers would have to step over it.
  virtual absl::Status Flush(ColumnId column) = 0;
  // About how much the range takes on the disk. REQUIRES: it has an end.
  virtual uint64_t ApproximateBytes(ColumnId column, const KeyRange& range) = 0;
};

// Calls `visit` for each row of the range until it says false.
using RowVisitor =
    std::function<bool(std::string_view key, std::string_view value)>;
absl::Status ForEachRow(OrderedStore& store, ColumnId column,
                        const KeyRange& range, const RowVisitor& visit,
                        const ReadOptions& options = {});

}  // namespace gannet::storage
