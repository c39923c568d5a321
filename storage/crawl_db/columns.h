// The columns of the crawl DB, and the hints for the engine about each.
#pragma once

#include <cstddef>
#include <vector>

#include "storage/engine/ordered_store.h"

namespace gannet::storage {

// Indexes into MakeColumns(). `meta` is the default column of the engine.
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

std::vector<ColumnTraits> MakeColumns();

}  // namespace gannet::storage
