// FederationPart is what a round must know of the federation, and what it
// leaves behind for it: the site's agent implements it, over federation/member.
// A site that is in none has none. Used by the thread that runs rounds.
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
  // False: it is not in the map, or the federation is paused. A round that is
  // open goes on all the same.
  bool may_begin = false;
};

class FederationPart {
 public:
  virtual ~FederationPart() = default;

  // As it is now: asked when a round begins or goes on, and again before its
  // links are settled. What it points at lives until the next call.
  virtual FederationNow Look() = 0;
  // The round's links are settled.
  virtual absl::Status OnSettled() = 0;
  // Bytes that went to other sites since the last call, or since this process
  // started: for the report.
  virtual federation::BatchBytes TakeBytesSent() = 0;
};

}  // namespace gannet::jobs
