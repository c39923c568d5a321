// Injection adds seeds to a site, in batches, and counts what came of them:
// `gannet inject`, and the beginning of `gannet crawl`. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sites/config/site_config.h"
#include "sites/console/exit_code.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::sites {

class Injection {
 public:
  explicit Injection(storage::CrawlDb& db) : db_(db) {}

  // URLs, and files with a URL a line; bad ones are named on standard error,
  // counted and skipped.
  absl::Status ReadAll(const SiteConfig& config,
                       const std::vector<std::string>& sources);

  // There was something, and all of it was bad.
  bool nothing_was_good() const {
    return counts_.added == 0 && counts_.known == 0 &&
           bad_ + counts_.blocked > 0;
  }
  const storage::PutCounts& counts() const { return counts_; }
  int64_t bad() const { return bad_; }

 private:
  absl::Status Take(storage::PageKey seed);
  void TakeBad(const std::string& where, const std::string& why);
  absl::Status Write();

  storage::CrawlDb& db_;
  std::vector<storage::PageKey> batch_;
  storage::PutCounts counts_;
  int64_t bad_ = 0;
};

}  // namespace gannet::sites
