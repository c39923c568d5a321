// generate: which pages this round fetches. What is due leaves the schedule,
// then the best `width` pages of the frontier are claimed, at most `per_host`
// of one host. Its time grows with the width only (storage/crawl_db/frontier.cc
// tells how).
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "federation/map/map_view.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::jobs {

struct GenerateSettings {
  size_t width = 20'000;
  size_t per_host = 200;
  int64_t max_pages_per_host = 0;  // Known ones, in all; 0: no limit.
  // The federation: which hosts this site may crawl now
  // (federation/handoff/fence.h), and who owns deferred URLs. Empty and null:
  // no federation, everything is this site's.
  storage::HostFilter may_crawl = {};
  std::shared_ptr<const federation::MapView> map = nullptr;
};

// True if there is something to fetch now: a round is worth opening. Moves what
// is due to the frontier; if that is empty, lets deferred URLs in, or sends
// them to the sites that own them.
absl::StatusOr<bool> HasWork(storage::CrawlDb& crawl_db,
                             const GenerateSettings& settings, absl::Time now);

// Fills the open round's fetch list and lets the root pay. Returns its length.
// After a crash it goes on where it was.
absl::StatusOr<int64_t> Generate(storage::CrawlDb& crawl_db,
                                 const GenerateSettings& settings);

}  // namespace gannet::jobs
