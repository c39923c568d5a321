// How a page becomes known, and how it enters and leaves the frontier and the
// schedule: the rows that a move writes and the counts that it changes, in one
// place, so that no verb can write one without the other (invariant I1). They
// only add to an edit. Private to this room.
//
// `record` must be what the page will have (enter) or had (leave): the
// frontier's row is named by its score.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "storage/crawl_db/found_url.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

class Admission;

void EnterFrontier(Store& store, Edit& edit, std::string_view page,
                   proto::PageRecord& record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());
void EnterSchedule(Edit& edit, std::string_view page, proto::PageRecord& record,
                   int64_t ready_ms);
void LeaveSchedule(Edit& edit, std::string_view page,
                   const proto::PageRecord& record);
// Removes the page from where it is; the caller decides where its cash goes.
void LeaveColumns(Store& store, Edit& edit, std::string_view page,
                  const proto::PageRecord& record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());
// The same, and its cash goes to the root.
void LeavePlace(Store& store, Edit& edit, std::string_view page,
                const proto::PageRecord& record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());
// Puts the page where the record says.
void EnterPlace(Store& store, Edit& edit, std::string_view page,
                proto::PageRecord& record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());

// A new page, in the frontier.
void AddPage(Store& store, Edit& edit, const FoundUrl& url, absl::Time now)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());
// Adds `urls` (sorted, distinct). Without `known_gain` the cash of those that
// are known is dropped.
absl::StatusOr<PutCounts> AddFound(Store& store, Edit& edit,
                                   absl::Span<const FoundUrl> urls,
                                   const Moment& moment,
                                   Admission* admission = nullptr,
                                   bool known_gain = true)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());
// Puts pages that came from other sites where their records say; those that are
// known already are merged. Returns how many.
absl::StatusOr<int64_t> AddMoved(Store& store, Edit& edit,
                                 std::vector<proto::MovedPage> pages,
                                 const Moment& moment)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.stripes());

}  // namespace gannet::storage
