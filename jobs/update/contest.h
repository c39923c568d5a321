// Contest finds the bar that new URLs have to pass in this round: those with
// the most cash take the places. Each way (routes.h) has places of its own, and
// a bar. Only URLs compete that could get in: not those that are known, blocked
// or were sent before, and of each host only the best, as many as it has room
// for (Admission in storage/crawl_db lets in the same ones).
// Otherwise places would go to URLs that cannot take them, and stay empty.
//
// What waits deferred competes too; a URL that waits and was found again is one
// competitor, with the cash of both. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "jobs/update/admission_bar.h"
#include "jobs/update/routes.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::jobs {

class Contest {
 public:
  // `places` of each way. `most_host_pages`: 0 is no limit. Both `crawl_db` and
  // `routes` must outlive this.
  Contest(storage::CrawlDb& crawl_db, Routes& routes,
          const std::vector<int64_t>& places, int64_t most_host_pages);

  // The best that wait, looked up `batch` at a time.
  // REQUIRES: before the first Add.
  absl::Status AddDeferred(size_t batch);
  // Targets of the round. REQUIRES: in key order, over all calls.
  absl::Status Add(absl::Span<const storage::FoundUrl> targets);
  // Of each way.
  absl::StatusOr<std::vector<AdmissionBar::Height>> Find();

 private:
  struct Waiting {
    std::string page;
    int64_t cash = 0;
  };

  // In key order.
  absl::Status Enter(std::string_view page, int64_t cash);
  // Those that come before `page`; all, if it is nothing.
  absl::Status EnterWaiting(std::optional<std::string_view> page);
  void CloseHost();

  storage::CrawlDb& crawl_db_;
  Routes& routes_;
  const int64_t places_;  // Of all ways.
  const int64_t most_host_pages_;
  std::vector<AdmissionBar> bars_;  // By way.
  std::string host_;
  std::optional<AdmissionBar> best_of_host_;
  std::vector<Waiting> waiting_;  // In key order, from next_ on.
  size_t next_ = 0;
};

}  // namespace gannet::jobs
