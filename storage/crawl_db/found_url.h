// The values in calls of the crawl DB: found URLs, the cash that they bring,
// and what became of them. Plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/keys.h"

namespace gannet::storage {

// A URL that was found, with the cash that it brings.
struct FoundUrl {
  PageKey page;
  int64_t cash = 0;
  uint32_t depth = 0;
  uint32_t redirects = 0;
};

// URLs, each with the site that it goes to.
using RemoteUrls = std::vector<std::pair<SiteId, FoundUrl>>;
using RemoteSpan = absl::Span<const std::pair<SiteId, FoundUrl>>;

// The times that OPIC needs: cash for a page that is not due before `soon` does
// not wait there, but goes to the root.
struct Moment {
  absl::Time now;
  absl::Time soon = absl::InfiniteFuture();
};

struct PutCounts {
  int64_t added = 0;
  int64_t known = 0;
  // Settle only.
  int64_t with_least_cash = 0;  // Of those added: just enough to get in.
  int64_t deferred = 0;         // New, and not let in.
  int64_t dropped = 0;
  int64_t blocked = 0;  // Not known, and refused: the operator's block list.
};

// URLs that were dropped, and counted.
struct Drop {
  std::string reason;
  int64_t cash = 0;
  int64_t urls = 0;
};

// Why a page is finished, and why a found URL was dropped, if the operator
// blocked its domain. Stored on disk.
inline constexpr char kBlockedByOperator[] = "blocked by operator";
// Why cash was dropped of a URL that another site was sent before. On disk too.
inline constexpr char kSentBefore[] = "sent before";
// Why cash was dropped that other sites sent for known pages. Stored on disk.
inline constexpr char kKnownAtItsOwner[] = "known at its owner";

// Which new URLs of a batch get in.
struct AdmissionLimits {
  // One that is new gets in if it has more cash than this, with what waits for
  // it deferred; with just as much, only the first so many do. The others are
  // deferred, or dropped if `drop_over_quota`.
  int64_t least_cash_for_new = 0;
  int64_t most_with_least_cash = std::numeric_limits<int64_t>::max();
  bool drop_over_quota = false;
  // A host gets no more pages than this; 0: as many as it likes. The best of
  // the batch take the places that it has left, the others are dropped.
  int64_t most_host_pages = 0;
};

struct HostUpdate {
  HostKey host;
  // `rest_until_ms` not 0: the host rests until then.
  proto::HostRecord record;
};

// Another site, in one of its incarnations.
struct Peer {
  SiteId site{};
  uint64_t incarnation = 0;
};

// A batch that is sent to another site, and its number.
struct OutboxCut {
  uint64_t sequence = 0;
  proto::OutboxBatch batch;
};

// The owner of a page; nullopt: it is this site's own.
using OwnerOf = std::function<std::optional<SiteId>(std::string_view page)>;

}  // namespace gannet::storage
