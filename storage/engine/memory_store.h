// MemoryStore is an OrderedStore for tests of what a crash leaves behind. Its
// rows lie on a MemoryDisk, which outlives it, as a real disk outlives a
// process: kill the process by destroying the store, and open the disk again;
// cut the power, and what was not synced is gone, from the last write back. A
// crash costs what is forgotten, so that a test can go through thousands a
// second.
//
// Not for production: everything is in memory, and a write copies a column
// while somebody reads it. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "storage/engine/ordered_store.h"

namespace gannet::storage {

class MemoryDisk {
 public:
  explicit MemoryDisk(size_t columns);
  ~MemoryDisk();

  // REQUIRES: at most one store of the disk is open at a time.
  std::unique_ptr<OrderedStore> Open();

  // How many were written, since the disk is there and without those forgotten.
  size_t batches() const;
  // How many of them a power cut may take.
  size_t unsynced_batches() const;
  // Forgets all of them but the first `kept`: a disk writes in order, and may
  // have come to any point.
  // REQUIRES: no store of the disk is open.
  void CutPower(size_t kept);

  // From now on every write fails with this; OK ends it.
  void FailWritesWith(absl::Status status);
  // The same for look-ups in a column.
  void FailLookUpsWith(absl::Status status, ColumnId column);

  // Called by each write when others can see its rows, before it returns.
  void CallAfterWrites(std::function<void()> call);

  // How often a cursor sought its place: what a read costs on a real disk.
  int64_t seeks() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace gannet::storage
