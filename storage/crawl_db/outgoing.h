// Outgoing empties the outboxes: it cuts them into batches, numbered without
// gaps for each pair of lives (of this site, and of the one that gets them),
// and keeps each until the other site has said that it has it. So a batch may
// be sent twice, and is never lost; the receiver takes each number once
// (incoming.h). What is returned to be sent is on the disk. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/found_url.h"

namespace gannet::storage {

class Store;

class Outgoing {
 public:
  explicit Outgoing(Store& store) : store_(store) {}

  // To be called before anything is sent to that life of a site. Where the last
  // was another, or this site's own, what was being sent waits again, and pages
  // that were moving are back.
  absl::Status OpenPair(const Peer& to);
  // The same for a site that is gone: nothing is being sent to it any more.
  // What waits in its outbox stays there, for Reroute().
  absl::Status ClosePair(SiteId to);
  // Sites that something waits for, or is numbered for.
  absl::StatusOr<std::vector<SiteId>> Destinations();
  // Cuts the next batch out of an outbox, synced: at least one URL, and no more
  // than these. kNotFound if it is empty. With a `cursor` (empty at first) it
  // goes on where the last cut ended, and at the end begins anew: from the
  // front it would step over the rows of all cuts before.
  // kFailedPrecondition: OpenPair() was not called for these lives.
  absl::StatusOr<OutboxCut> CutOutbox(
      const Peer& to, size_t most,
      size_t most_bytes = std::numeric_limits<size_t>::max(),
      std::string* cursor = nullptr);
  // Batches cut and not yet acknowledged, oldest first: at most so many, of
  // those with a number greater than `after`.
  absl::StatusOr<std::vector<OutboxCut>> Sending(
      SiteId destination, uint64_t after = 0,
      size_t most = std::numeric_limits<size_t>::max());
  // The other site has all up to `last`; acknowledged twice is harmless.
  // kInvalidArgument: it never was sent. kDataLoss: it had more before.
  absl::Status Acknowledge(const Peer& by, uint64_t last);
  absl::StatusOr<proto::SentPair> sent_pair(SiteId to);
  // How many pages on their way came back since this was opened, because one of
  // the two sites began another life: they are here again, and not this site's.
  uint64_t pages_taken_back() const { return pages_taken_back_; }

 private:
  // What was being sent waits again, and the numbers begin anew with `fresh`;
  // without it there are none any more.
  absl::Status BeginLife(SiteId to,
                         const std::optional<proto::SentPair>& fresh);

  Store& store_;
  std::atomic<uint64_t> pages_taken_back_ = 0;
};

}  // namespace gannet::storage
