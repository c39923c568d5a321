// MoveEstimate guesses how many bytes pages will be on their way to another
// site, for `federation plan`. A look at the first pages of the crawl DB would
// say little: they are of a few domains. So some two hundred times a host is
// drawn from all that move, in proportion to its pages; of each a run of pages
// is encoded as it would be sent (federation/exchange/moved_codec.h), the
// longer the more often the host was drawn, and that stands for the rest. The
// draw has a fixed seed: the same site gets the same answer twice. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::federation {

class MoveEstimate {
 public:
  // `crawl_db` must outlive this.
  explicit MoveEstimate(storage::CrawlDb& crawl_db) : crawl_db_(crawl_db) {}

  // A host that moves, with its pages.
  void Add(std::string_view host, int64_t pages);

  struct PerByte {
    double bytes_of_page = 0;  // A record, with its key, before compression.
    double compressed = 1;     // What is left of a byte.
  };
  // Of all hosts that were added.
  absl::StatusOr<PerByte> PerByteNow() const;

 private:
  // A run of the host's pages, at a random place.
  absl::Status TakePages(const std::string& host, int64_t most,
                         std::mt19937_64& random,
                         proto::OutboxBatch& sample) const;

  storage::CrawlDb& crawl_db_;
  std::mt19937_64 random_{20260101};
  int64_t pages_ = 0;
  std::vector<std::string> drawn_;  // Hosts; empty until the first is added.
};

}  // namespace gannet::federation
