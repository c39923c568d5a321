// Rows of URLs that wait: to get in (deferred) or to get out (outbox). Both
// keep one row per URL and merge the cash of what is found again. What a page
// gains that its owner was sent before waits apart ('g' rows), so that it is
// merged over some rounds before it crosses the ocean. They only add to an
// edit. Private to this room.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "storage/crawl_db/found_url.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

// A waiting URL's value; kDataLoss if it cannot be decoded.
absl::StatusOr<FoundUrl> FoundUrlFromRow(std::string_view page,
                                         std::string_view value);

absl::Status AddDeferred(Store& store, Edit& edit,
                         absl::Span<const FoundUrl> urls)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());
// The deferred rows of `urls` (sorted, distinct); nothing where there is none.
// Free if nothing is deferred.
absl::StatusOr<std::vector<std::optional<FoundUrl>>> DeferredOf(
    Store& store, absl::Span<const FoundUrl> urls);
void DeleteDeferred(Edit& edit, const FoundUrl& row);
// The deferred rows of these, by page; they wait no longer.
absl::StatusOr<std::map<std::string, FoundUrl>> TakeDeferred(
    Store& store, Edit& edit, std::vector<FoundUrl> urls)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());
// What waits deferred for remote URLs goes with them.
absl::Status JoinDeferred(Store& store, Edit& edit, RemoteUrls& remote)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());

absl::Status AddOutbox(Store& store, Edit& edit, RemoteSpan urls)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.pairs());
absl::Status AddGains(Store& store, Edit& edit, RemoteSpan urls)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.pairs());
// At most so many of a site's gains; they wait no longer.
absl::StatusOr<RemoteUrls> TakeGains(Store& store, Edit& edit, SiteId of,
                                     size_t most)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.pairs());

}  // namespace gannet::storage
