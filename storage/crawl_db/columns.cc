#include "storage/crawl_db/columns.h"

namespace gannet::storage {

// In the order of Column. The names are on disk.
std::vector<ColumnTraits> MakeColumns() {
  return {
      // The sent-URL cache's snapshot is large.
      {.name = "meta", .has_large_values = true},
      {.name = "pages", .looks_up_absent_keys = true},
      {.name = "frontier", .is_queue = true},
      {.name = "schedule", .is_queue = true},
      {.name = "hosts", .looks_up_absent_keys = true, .has_counters = true},
      {.name = "rounds", .is_queue = true},
      {.name = "deferred", .looks_up_absent_keys = true, .is_queue = true},
      {.name = "outbox", .looks_up_absent_keys = true, .is_queue = true},
  };
}

}  // namespace gannet::storage
