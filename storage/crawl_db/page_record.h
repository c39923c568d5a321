// What can be done to a page's record by itself, without any row: read it,
// judge it, merge two of one page, mark it as taken out by a block. Functions
// only. Private to this room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/found_url.h"

namespace gannet::storage {

// What to say of a stored message that cannot be read.
absl::Status BadRecord(std::string_view what);
// Decodes a stored record; kDataLoss if that fails.
absl::StatusOr<proto::PageRecord> DecodePage(std::string_view bytes);
// All enum fields hold known values: what came from a peer or from the disk may
// hold any number.
bool IsSound(const proto::PageRecord& record);

// What counts for the score: it may stop growing, but not wrap around.
inline void AddHistory(proto::PageRecord& record, int64_t cash) {
  constexpr int64_t kMost = int64_t{1} << 62;
  record.set_history(std::min(record.history(), kMost - cash) + cash);
}

// OPIC: a page that waits for its turn keeps the cash; one that was fetched and
// is not due soon, or never again, counts it as history and passes it on to the
// root, where it is paid out with the next round.
bool KeepsCash(const proto::PageRecord& record, const Moment& moment);

// The one of `first` and `second` that was visited later, with what both have
// of cash and history. Where neither was later, the first.
proto::PageRecord Merged(const proto::PageRecord& first,
                         const proto::PageRecord& second);

// Marks a record, which must be in no column, as taken out by a block; and
// undoes that.
void MarkTakenOut(proto::PageRecord& record);
bool WasTakenOut(const proto::PageRecord& record);
void UnmarkTakenOut(proto::PageRecord& record);

}  // namespace gannet::storage
