// Waiting keeps the URLs that wait: to get in (deferred), or to be sent to
// other sites (outboxes). How an outbox is sent is Outgoing's. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "storage/crawl_db/found_url.h"
#include "storage/crawl_db/keys.h"

namespace gannet::storage {

class Store;

class Waiting {
 public:
  explicit Waiting(Store& store) : store_(store) {}

  // The deferred URLs with the most cash: page and cash, nothing more is read.
  // From the best on, or from the one behind `after`.
  absl::StatusOr<std::vector<FoundUrl>> TopDeferred(
      size_t most, const std::optional<FoundUrl>& after = std::nullopt);
  // Lets deferred URLs in; those not deferred are skipped, and those whose host
  // has `most_host_pages` (0: no limit) are dropped, as Settle() does. While a
  // round updates, they count for it.
  absl::StatusOr<PutCounts> Undefer(absl::Span<const PageKey> pages,
                                    const Moment& moment,
                                    int64_t most_host_pages = 0);
  // Moves deferred URLs to outboxes; those not deferred are skipped. With
  // `for_round` they count for the open round, as what Settle() sends does.
  absl::Status SendDeferred(absl::Span<const std::pair<SiteId, PageKey>> pages,
                            bool for_round = false);
  // The same with all deferred URLs that `owner` gives to another site. Returns
  // how many. Many writes; cut off, it can be called again.
  absl::StatusOr<int64_t> SweepDeferred(const OwnerOf& owner);
  // Puts URLs that their owners may have lost into their outboxes again,
  // without cash, for the cash is lost, too. kInvalidArgument if one has cash,
  // or no page key.
  absl::Status SendAgain(absl::Span<const std::pair<SiteId, FoundUrl>> urls);
  // What was gained by pages that other sites were sent (Settlement::gains)
  // goes to their outboxes. Returns how many. Many writes, as above.
  absl::StatusOr<int64_t> ReleaseGains();

  // With how much cash each of the URLs (sorted, distinct) competes to be let
  // in: what it brings, and what waits for it deferred. Nullopt for those that
  // do not compete: known, or of a blocked domain.
  absl::StatusOr<std::vector<std::optional<int64_t>>> CashOfNew(
      absl::Span<const FoundUrl> urls);
  // Moves what waits in the outbox for `from` and belongs to another site; to
  // this one, if `owner` says nothing. Batches that were cut stay: the site
  // that gets them forwards their URLs. Returns how many. Many writes; cut off,
  // it can be called again.
  absl::StatusOr<int64_t> Reroute(SiteId from, const OwnerOf& owner,
                                  const Moment& moment);

 private:
  // A row of an outbox that belongs elsewhere; `to` nothing: to this site.
  struct Rerouted {
    std::string key;
    std::string page;
    std::optional<SiteId> to;
  };
  absl::StatusOr<int64_t> MoveRows(SiteId from,
                                   const std::vector<Rerouted>& rows,
                                   const Moment& moment);
  absl::StatusOr<int64_t> ReleaseGains(SiteId of);

  Store& store_;
};

}  // namespace gannet::storage
