// RecordedCrawl replays a crawl of a recorded link graph by several sites, in
// memory: no network, no crawl DB, only the URLs that the exchange would see.
// Links are those of data/graph (the Italian CNR), URLs are those that the
// fake web gives to its pages, HashPlacement gives domains to sites, and every
// site fetches the pages with the most cash first (OPIC), so many in each round
// that the crawl ends with the last round.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/crawl_db/crawl_db.h"
#include "tests/fake_web/web.h"

namespace gannet::bench {

struct CrawlShape {
  int sites = 3;
  int rounds = 50;
  // This share of each site's pages of a round has been fetched before, as if
  // the site keeps its copy fresh.
  double recrawl = 0;
  // Every page is a channel of its own: the worst case, in which no links stay
  // within a channel.
  bool scattered = false;
};

class RecordedCrawl {
 public:
  // kNotFound if there is no graph.
  static absl::StatusOr<std::unique_ptr<RecordedCrawl>> Read(
      const std::string& graph, uint32_t hosts);

  // A URL that a site found in a round and another owns.
  struct Sent {
    int from = 0;
    int to = 0;
    uint32_t page = 0;
    uint32_t links = 0;  // How many of the round's links lead to it.
    int64_t cash = 0;
    uint32_t depth = 0;
  };
  // Gets what a site found in a round for other sites, in the order of keys.
  // Returns for each whether it is sent; if not, its cash is dropped.
  using Exchange = std::function<std::vector<bool>(int round, int from,
                                                   const std::vector<Sent>&)>;
  // Calls `exchange` for each site and round.
  void Run(const CrawlShape& shape, const Exchange& exchange) const;

  const storage::PageKey& key(uint32_t page) const { return keys_[page]; }
  uint32_t pages() const { return static_cast<uint32_t>(keys_.size()); }
  uint64_t links() const { return web_->graph()->links(); }

 private:
  explicit RecordedCrawl(std::unique_ptr<fake_web::Web> web);

  std::unique_ptr<fake_web::Web> web_;
  std::vector<storage::PageKey> keys_;
  std::vector<uint32_t> order_;  // A page's place in the order of keys.
  std::vector<uint32_t> seeds_;
};

// Calls `report` with the crawl of the recorded graph, or says that the graph
// is missing. Returns main()'s exit code: 77 if it is missing.
int OnTheRecordedWeb(const std::function<void(const RecordedCrawl&)>& report);

}  // namespace gannet::bench
