// FederationPart is what a round asks of the federation and reports to it; the
// site's agent implements it with federation/member. A site without a
// federation has none. Used by the thread that runs rounds, but for IsOut().
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "federation/exchange/batch_bytes.h"
#include "federation/exchange/sent_url_cache.h"
#include "federation/map/map_view.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::jobs {

struct FederationNow {
  // Null: the site has not joined yet.
  std::shared_ptr<const federation::MapView> map;
  storage::HostFilter may_crawl;
  federation::SentUrlCache* sent = nullptr;
  // Not OK, for example: the site is not in the map, or the federation is
  // paused. An open round goes on in any case.
  absl::Status may_begin = absl::FailedPreconditionError(
      "this site has not joined its federation yet");
};

class FederationPart {
 public:
  virtual ~FederationPart() = default;

  // As it is now: asked when a round begins or goes on, and again before its
  // links are settled. What it points at lives until the next call.
  virtual FederationNow Snapshot() = 0;
  // The site was in the map and no longer is: other sites now crawl the hosts
  // of the open round, so its pages go back to the frontier. Thread-safe and
  // cheap: called all the time.
  virtual bool IsOut() const = 0;
  // The round's links are settled.
  virtual absl::Status OnSettled() = 0;
  // Bytes that went to other sites since the last call, or since this process
  // started: for the report.
  virtual federation::BatchBytes TakeBytesSent() = 0;
};

}  // namespace gannet::jobs
