// BatchReceiver takes the batches that other sites send: unpacks them, makes
// every URL canonical again by this site's own rules, looks up the owner of
// each in the current map, and writes all of it at once
// (storage/crawl_db/incoming.h). A batch is taken whole or not at all. Every
// field is checked as if the sender were faulty; its identity was checked
// before. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "federation/exchange/batch_codec.h"
#include "federation/exchange/moved_codec.h"
#include "federation/map/map_holder.h"
#include "proto/peers.pb.h"
#include "storage/clock.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"

namespace gannet::federation {

struct BatchReceiverSettings {
  // Those that the canonicaliser and the filter go by.
  proto::MapRules rules;
  BatchLimits limits;
  MovedLimits moved_limits;
  int64_t most_host_pages = 0;  // fetch.max_pages_per_host.
  // A fetched page that is due within this keeps the cash that it gets.
  absl::Duration soon = absl::Hours(24);
};

// A batch as this site reads it, by the current map.
struct OpenedBatch {
  std::shared_ptr<const MapView> view;
  absl::StatusOr<storage::Delivery> delivery;
  uint64_t foreign = 0;  // Pages and hosts that are not this site's.
};

class BatchReceiver {
 public:
  // All must outlive this.
  BatchReceiver(BatchReceiverSettings settings, storage::CrawlDb& crawl_db,
                const MapHolder& maps,
                const storage::Canonicaliser& canonicaliser,
                const storage::UrlFilter& filter, storage::Clock& clock);

  // Opening a batch takes time but no lock: it can be done while the batch
  // before is being written to the disk.
  OpenedBatch Open(const storage::Peer& from, const peers::Batch& batch) const;

  // `opened` is what Open() made of `batch`; if the map has changed since then,
  // it is opened again.
  // `to_incarnation`: the incarnation of this site that it was sent to; 0: any.
  // kAborted: the batch's map is newer, and to be fetched first. kUnavailable:
  // CheckOwnRules(). kFailedPrecondition: this site has begun another life.
  // kInvalidArgument, kResourceExhausted (too large), kUnimplemented (another
  // version): the sender is broken. kOutOfRange: it is not the next batch.
  // kPermissionDenied: this site, or the sender, is no longer in the map. A
  // full disk is kResourceExhausted too, and says so.
  absl::StatusOr<storage::Receipt> Store(const storage::Peer& from,
                                         const peers::Batch& batch,
                                         OpenedBatch opened,
                                         uint64_t to_incarnation = 0);
  // kUnavailable: this site goes by other rules than the federation, and would
  // drop what the others want. They keep it until that has changed.
  absl::Status CheckOwnRules(const MapView& view) const;

  // Since the start.
  struct Counts {
    uint64_t batches = 0;
    uint64_t repeated = 0;  // Came before.
    uint64_t refused = 0;
    uint64_t urls = 0;
    uint64_t forwarded = 0;
    uint64_t filtered = 0;  // URLs that this site's rules do not accept.
    uint64_t pages = 0;     // That came to stay,
    uint64_t foreign = 0;   // of which another site's by now: they move on.
  };
  Counts counts() const;

 private:
  // The map may have changed since the sender was let in.
  absl::Status CheckSender(const storage::Peer& from, const peers::Batch& batch,
                           const MapView* view) const;
  absl::StatusOr<storage::Delivery> Unpack(const storage::Peer& from,
                                           const peers::Batch& batch,
                                           const MapView& view) const;
  // Pages that move here, and hosts. Returns how many are not this site's.
  absl::StatusOr<uint64_t> UnpackMoved(const peers::Batch& batch,
                                       const MapView& view,
                                       storage::Delivery& delivery) const;

  const BatchReceiverSettings settings_;
  storage::CrawlDb& crawl_db_;
  const MapHolder& maps_;
  const storage::Canonicaliser& canonicaliser_;
  const storage::UrlFilter& filter_;
  storage::Clock& clock_;
  std::atomic<uint64_t> batches_ = 0, repeated_ = 0, refused_ = 0, urls_ = 0,
                        forwarded_ = 0, filtered_ = 0, pages_ = 0, foreign_ = 0;
};

}  // namespace gannet::federation
