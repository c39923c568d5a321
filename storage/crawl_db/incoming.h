// Incoming is what makes pages known: seeds, and what other sites send. Each of
// their batches is applied once, however often it comes, for its number is
// stored in the same write; and the number is acknowledged only when that write
// is on the disk, so that nothing is lost when the sender forgets the batch.
// Thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/found_url.h"
#include "storage/crawl_db/keys.h"
#include "storage/mutex.h"

namespace gannet::storage {

class Store;

// A seed brings this much cash.
inline constexpr int64_t kSeedCash = int64_t{1} << 36;

// A batch that another site has sent.
struct Delivery {
  Peer from;
  // This site's incarnation that it was sent to; 0: any.
  uint64_t to_incarnation = 0;
  uint64_t sequence = 0;
  int64_t cash_so_far = 0;  // The sender's word, of all its batches.
  std::vector<FoundUrl> mine;
  // Not this site's any more, or not yet: forwarded to their owners.
  RemoteUrls forwarded;
  std::vector<Drop> dropped;
  // Pages that come from there to stay, and the records of hosts; stored
  // whoever owns them.
  std::vector<proto::MovedPage> moved;
  std::vector<HostUpdate> hosts;  // Distinct.
  std::vector<Drop> dropped_moved;
  // Not 0: the sender has now handed over all that this change moves to here.
  uint64_t complete_for = 0;
  // A known page receives the cash; otherwise it is dropped and counted.
  bool known_gain = false;
  int64_t most_host_pages = 0;  // As in Settlement.
};

struct Receipt {
  uint64_t last = 0;    // All batches up to this one are on the disk.
  bool is_new = false;  // It had not come before.
  PutCounts counts;
  int64_t moved = 0;  // Pages that came to stay.
};

class Incoming {
 public:
  explicit Incoming(Store& store) : store_(store) {}

  // Adds seeds, each with kSeedCash; a known page is left as it is.
  absl::StatusOr<PutCounts> Inject(absl::Span<const PageKey> seeds,
                                   absl::Time now);
  // Adds what another site found; a known page only receives the cash.
  absl::StatusOr<PutCounts> PutIfAbsent(absl::Span<const FoundUrl> urls,
                                        const Moment& moment);

  // Takes a batch, synced. One that came before changes nothing. kOutOfRange:
  // it is not the next. kInvalidArgument: something in it is invalid.
  // kFailedPrecondition: it was sent to another life of this site.
  absl::StatusOr<Receipt> Receive(Delivery delivery, const Moment& moment)
      ABSL_LOCKS_EXCLUDED(receive_mu_);
  absl::StatusOr<proto::ReceivedPair> received_pair(const Peer& from);
  // The same, synced: what may be told to that site.
  absl::StatusOr<proto::ReceivedPair> PromisedPair(const Peer& from);
  // The last epoch for which that life of a site has moved all; 0: none.
  absl::StatusOr<uint64_t> completed_for(const Peer& from);

  // A new incarnation, for a copy that begins a life of its own. No batch is
  // taken meanwhile, nor any that was sent to the life before.
  absl::Status Reincarnate() ABSL_LOCKS_EXCLUDED(receive_mu_);

 private:
  absl::StatusOr<Receipt> Apply(Delivery delivery, const Moment& moment)
      ABSL_LOCKS_EXCLUDED(receive_mu_);

  Store& store_;
  Mutex receive_mu_;  // Taken before any stripe.
};

}  // namespace gannet::storage
