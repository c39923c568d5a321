// Rows of this site and another: the numbers of the batches that went there and
// came from there, and the batches that are on their way. They only add to an
// edit. Private to this room.
//
// Batches are numbered without gaps for each pair of lives (of this site, and
// of the one that gets them), and kept until the other site has said that it
// has them. A new life of either begins at number 1.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/crawl_db/found_url.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

absl::StatusOr<proto::SiteIdentity> GetIdentity(Store& store);
absl::StatusOr<proto::SentPair> GetSentPair(Store& store, SiteId to);
// kFailedPrecondition if the numbers are of other lives than these.
absl::StatusOr<proto::SentPair> GetOpenedPair(Store& store, const Peer& to);
absl::StatusOr<proto::ReceivedPair> GetReceivedPair(Store& store,
                                                    const Peer& from);

absl::StatusOr<proto::OutboxBatch> ParseBatch(std::string_view value);
// Batches cut and not yet acknowledged, oldest first: at most so many, of those
// with a number greater than `after`.
absl::StatusOr<std::vector<OutboxCut>> GetSending(
    Store& store, SiteId destination, uint64_t after = 0,
    size_t most = std::numeric_limits<size_t>::max());

// Gives the batch its number, and adds it.
void AddCut(Store& store, Edit& edit, SiteId to, proto::SentPair pair,
            OutboxCut& cut) ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.pairs());

}  // namespace gannet::storage
