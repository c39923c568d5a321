// OpenRound is the journal of the round that runs, and what becomes of its
// pages: which phase it is in, the fetch list, outcomes, outlinks, and how
// update settles them. Phases are enforced: a verb that is out of its phase
// changes nothing. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/found_url.h"
#include "storage/crawl_db/keys.h"

namespace gannet::storage {

class Store;

// Of a page's outlinks only the first are kept whose keys take no more bytes
// than this: update reads them all, several times if they are many, and a page
// of nothing but long links must not be able to slow it down.
inline constexpr size_t kMostOutlinkBytes = 256 << 10;

// How a page of the open round ended.
struct Completion {
  PageKey page;
  // State, visit, validators, digest, archive position, change statistics,
  // retries and finished reason are taken from here; place, cash, history,
  // depth and redirects are the DB's own.
  proto::PageRecord outcome;
  // When it is to be visited again; nullopt: it is finished.
  std::optional<absl::Time> ready;
  // The pages among which its cash is divided evenly: distinct, without itself.
  // Empty: the root gets it. Those beyond kMostOutlinkBytes are left out, as if
  // they were not there.
  std::vector<PageKey> outlinks;
  uint32_t outlink_redirects = 0;  // Of a moved page's target.
  // A page that was read keeps what it had in its history; others do not.
  bool keeps_history = false;

  // For the round's report.
  std::string_view failure_kind;  // Of a failed page. Static: one of a few.
  bool unchanged = false;
  int64_t bytes = 0;  // Received.
};

// One batch of update: targets in key order, up to and including `cursor`.
struct Settlement : AdmissionLimits {
  std::string cursor;
  std::vector<FoundUrl> local;
  std::vector<FoundUrl> deferred;
  RemoteUrls remote;
  // The cash for pages that other sites were sent before: kept apart, merged,
  // until ReleaseGains().
  RemoteUrls gains;
  std::vector<Drop> dropped;
};

class OpenRound {
 public:
  explicit OpenRound(Store& store) : store_(store) {}

  proto::RoundJournal journal() const;
  absl::Status Open(absl::Time now);
  absl::Status SetPhase(proto::RoundPhase phase);
  // Counts time that was spent in a phase of the open round.
  absl::Status AddPhaseTime(proto::RoundPhase phase, absl::Duration time);
  // How late the network thread of the open round was at most, and for how long
  // it held back connections.
  absl::Status AddNetworkLag(absl::Duration max_lag, absl::Duration held_back);
  // The root pays evenly to the fetch list, which never grows after this.
  absl::Status PayRoot();
  // Group commit: synced. What is not in the open round is skipped (it was
  // forgotten meanwhile); returns how many were completed. An empty `archive`
  // leaves the one stored before.
  // REQUIRES: the round is in its fetch phase; otherwise kFailedPrecondition.
  absl::StatusOr<int64_t> Complete(absl::Span<const Completion> completions,
                                   absl::Span<const HostUpdate> hosts,
                                   const proto::ArchiveState& archive);
  // The open round's pages still to fetch, in key order, after `after`.
  absl::StatusOr<std::vector<PageKey>> FetchList(const PageKey& after,
                                                 size_t most);
  // Calls `visit` for the outlinks of each completed page of the open round.
  absl::Status ForEachOutlinks(
      const std::function<void(std::string_view page,
                               const proto::OutlinkSegment&)>& visit);
  // Targets come in key order, all of them: those between the last cursor and
  // this one that are not named are taken as having no cash.
  absl::StatusOr<PutCounts> Settle(const Settlement& settlement,
                                   const Moment& moment);
  // REQUIRES: the round updates, every page was completed or released, and
  // every outlink is settled; otherwise kFailedPrecondition.
  absl::Status Close(std::string_view report);
  absl::StatusOr<std::string> Report(uint64_t round);

 private:
  absl::Status AddCounts(const proto::RoundCounts& counts);

  Store& store_;
};

}  // namespace gannet::storage
