// SentUrls is the sent-URL cache in a site's life: it is loaded from the crawl
// DB and kept there as rounds end, one of its salts is renewed each day, and
// what it knows of a site is forgotten when that site begins a new life or is
// gone: it may not have what it was sent (federation/member/losses.h).
//
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "federation/exchange/sent_url_cache.h"
#include "federation/map/map_view.h"
#include "storage/clock.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::federation {

struct SentUrlsSettings {
  size_t bytes = 4 << 20;  // Room for about a million URLs.
  absl::Duration renew_every = absl::Hours(24);
  // The cache is written whole, and a site that gets a few URLs at a time may
  // have a round every few seconds. After a kill, what was sent since the last
  // save is sent again, which does no harm.
  absl::Duration save_every = absl::Minutes(1);
  std::function<uint64_t()> random;  // Must not be guessable.
};

class SentUrls {
 public:
  // `crawl_db` and `clock` must outlive this. A cache that cannot be read, or
  // of another size, is an empty one: `lost` says why (URLs are sent once more,
  // no harm).
  static absl::StatusOr<std::unique_ptr<SentUrls>> Load(
      SentUrlsSettings settings, storage::CrawlDb& crawl_db,
      storage::Clock& clock, absl::Status* lost = nullptr);

  // What update asks.
  SentUrlCache& cache() { return cache_; }

  // To be called with each map before its first round: forgets what was sent to
  // sites that have begun another life since the last map, or are gone.
  void Follow(const MapView& view);

  // After a round: renews a salt if it is time, and puts all on the disk if it
  // has not been for a while, or something was forgotten. `at_once`: in any
  // case.
  absl::Status Save(bool at_once = false);

 private:
  SentUrls(SentUrlsSettings settings, storage::CrawlDb& crawl_db,
           storage::Clock& clock);

  const SentUrlsSettings settings_;
  storage::CrawlDb& crawl_db_;
  storage::Clock& clock_;
  SentUrlCache cache_;
  std::map<storage::SiteId, uint64_t> incarnations_;
  absl::Time renewed_;
  absl::Time saved_ = absl::InfinitePast();
  bool must_save_ = false;
};

}  // namespace gannet::federation
