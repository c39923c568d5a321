// ChannelMoves hands pages over to the sites that own them now. Pages leave
// here with the write that cuts them into a batch, of the same numbered stream
// that carries found URLs (outgoing.h), so that each arrives once; and they
// arrive with the write that stores the batch's number (incoming.h). In between
// they are in the batch, and their cash is the outbox's.
//
// A page may come to where it is known: both sites found it, or it comes back.
// Then the two become one: cash and history add up, and the rest is that of the
// later visit. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "storage/crawl_db/found_url.h"
#include "storage/crawl_db/keys.h"

namespace gannet::storage {

class Store;

// What CutPages() has cut.
struct PagesCut {
  uint64_t sequence = 0;  // Of the batch; 0: there was nothing to cut.
  int64_t pages = 0;      // In it.
  size_t hosts_done = 0;  // How many hosts, from the first, are done.
  int64_t in_round = 0;   // Pages of these that the open round has.
};

class ChannelMoves {
 public:
  explicit ChannelMoves(Store& store) : store_(store) {}

  // Cuts the next batch out of the pages of these hosts, in their order,
  // synced: the pages are known here no longer. Those of the open round stay. A
  // host's record goes with the last of its pages, or alone. No more than about
  // these bytes, but at least one page. With a `cursor` (empty at first) it
  // goes on where the last cut ended if that was in the first of the hosts, as
  // CutOutbox() does; a page that comes behind the cursor is left for the next
  // walk. kFailedPrecondition: OpenPair() was not called for these lives.
  absl::StatusOr<PagesCut> CutPages(const Peer& to,
                                    absl::Span<const HostKey> hosts,
                                    size_t most, size_t most_bytes = 1 << 20,
                                    std::string* cursor = nullptr);
  // Cuts a batch that says "complete": with it, the other site has all that
  // moves to it because of that change of the map. Later changes have higher
  // numbers. Nothing if that was said before (sent_pair()).
  absl::Status CutComplete(const Peer& to, uint64_t change);

 private:
  Store& store_;
};

}  // namespace gannet::storage
