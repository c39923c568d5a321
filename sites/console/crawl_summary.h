// CrawlSummary is what a person reads at the end of `gannet crawl` and `gannet
// round`: why it ended, what was done, what failed most often and which command
// explains it, and what is left for later. Functions; thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/time/time.h"
#include "proto/admin.pb.h"

namespace gannet::sites {

struct CrawlSummary {
  std::string data;  // The folder.
  int64_t max_pages = 0;
  absl::Time now;
  admin::RunCounts counts;
  admin::Status status;
  admin::Later later;
};

// DESIGN, section 10.
nlohmann::json SummaryJson(const CrawlSummary& summary);
std::string SummaryText(const CrawlSummary& summary);
// When the crawl begins to wait: what was done so far, and how to end it.
std::string WaitText(const CrawlSummary& so_far, absl::Time until);

}  // namespace gannet::sites
