// Pump sends an outbox to the site that owns its URLs, over one stream at a
// time: first what was cut and not acknowledged (by itself before, or by a
// hand-off, federation/handoff, at any time), then batch after batch of its own
// cutting, a few at once. After a stream has ended, for whatever reason, the
// next one continues with the batch after the last that the receiver says it
// has. Used by one thread, but for counts().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "federation/exchange/batch_bytes.h"
#include "federation/exchange/batch_codec.h"
#include "federation/map/map_holder.h"
#include "proto/peers.pb.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::federation {

// One call of PutIfAbsent, over any transport.
class PutStream {
 public:
  virtual ~PutStream() = default;
  // False: the stream has ended, or the other side wants it to; Finish() says
  // why.
  virtual bool Write(const peers::PutRequest& request) = 0;
  virtual bool Read(peers::PutReply& reply) = 0;
  virtual absl::Status Finish() = 0;
};

struct PumpSettings {
  // Both sites wait for their disk once a batch.
  size_t urls_of_batch = 8192;
  // Of keys, before they are packed: a web of long URLs must not make batches
  // that the receiver refuses.
  size_t bytes_of_batch = 1 << 20;
  size_t most_unacknowledged = 4;  // Batches.
  // How often it looks into an outbox that was empty.
  absl::Duration look_every = absl::Milliseconds(200);
  BatchCompression compression;
  uint64_t process = 0;  // Of this site's greeting.
};

class Pump {
 public:
  // Both must outlive this.
  Pump(PumpSettings settings, storage::CrawlDb& crawl_db, const MapHolder& maps,
       storage::SiteId to);

  // Sends until the stream ends, `stop` is set (MapHolder::Wake()), or a new
  // map comes, by which the outbox may have to be sorted anew; then it waits
  // for what is under way; a caller that cannot wait ends the stream. The
  // receiver's refusals are returned unchanged: kOutOfRange, kDataLoss,
  // kInvalidArgument say that one of the two sites is faulty, or a copy.
  absl::Status Run(PutStream& stream, const std::atomic<bool>& stop);

  // Since the start.
  struct Counts {
    uint64_t batches = 0;  // That were acknowledged.
    uint64_t urls = 0;
    uint64_t pages = 0;  // That moved there.
    BatchBytes bytes;    // Of packed batches, sent again or not.
  };
  Counts counts() const;

 private:
  class Session;

  const PumpSettings settings_;
  storage::CrawlDb& crawl_db_;
  const MapHolder& maps_;
  const storage::SiteId to_;
  std::atomic<uint64_t> batches_ = 0, urls_ = 0, pages_ = 0, url_bytes_ = 0,
                        page_bytes_ = 0;
};

}  // namespace gannet::federation
