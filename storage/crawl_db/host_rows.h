// A host's rows: its record, the number of its pages, and its rest, which is a
// row of the schedule too. They only add to an edit. Private to this room.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/crawl_db/found_url.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

absl::StatusOr<proto::HostRecord> GetHost(Store& store, const HostKey& host);
absl::StatusOr<int64_t> HostPages(Store& store, const HostKey& host);
// Only a wake ends a rest (`by_wake`), because it brings back the pages that
// were put aside: when anybody else clears one, it becomes due at once.
absl::Status AddHost(Store& store, Edit& edit, const HostUpdate& update,
                     bool by_wake = false)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());
// Each of two records of a host has seen what the other has not: keeps the
// values that make the crawler more careful, and those that last longer.
absl::Status AddMovedHost(Store& store, Edit& edit, const HostUpdate& update)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());
// Takes a host's rows out, and returns its record; one that was never written
// has version 0.
absl::StatusOr<proto::HostRecord> TakeHost(Store& store, Edit& edit,
                                           const HostKey& host)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());

}  // namespace gannet::storage
