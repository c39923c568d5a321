// FederationPart is what a round must know of the federation, and what it
// leaves behind for it: the site's agent implements it, over federation/member.
// A site that is in none has none. Used by the thread that runs rounds, but for
// IsOut().
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
  // Not OK: it is not in the map, the federation is paused, or what else this
  // says. A round that is open goes on all the same.
  absl::Status may_begin = absl::FailedPreconditionError(
      "this site has not joined its federation yet");
};

class FederationPart {
 public:
  virtual ~FederationPart() = default;

  // As it is now: asked when a round begins or goes on, and again before its
  // links are settled. What it points at lives until the next call.
  virtual FederationNow Look() = 0;
  // It was in the map and is so no more: the hosts of an open round are others'
  // by now, who ask them at the same time, so its pages go back. Thread-safe,
  // and cheap: asked all the time.
  virtual bool IsOut() const = 0;
  // The round's links are settled.
  virtual absl::Status OnSettled() = 0;
  // Bytes that went to other sites since the last call, or since this process
  // started: for the report.
  virtual federation::BatchBytes TakeBytesSent() = 0;
};

}  // namespace gannet::jobs
