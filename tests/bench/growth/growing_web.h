// GrowingWeb names the pages of a web of any size, and draws links in it, for
// benchmarks that need ten million known URLs and no server. Hosts have some
// 100 pages on average, by a power law; eight of eleven links stay on their
// host, and the first pages of a host get most of them, as on the real web.
// Half of a page's links are known, half new. Not thread-safe.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "storage/crawl_db/crawl_db.h"

namespace gannet::bench {

class GrowingWeb {
 public:
  explicit GrowingWeb(int64_t pages);

  int64_t pages() const { return pages_; }
  storage::PageKey Page(int64_t i) const;
  // Page `i` as PutIfAbsent gets it; cash is spread over many steps.
  storage::FoundUrl FoundPage(int64_t i);
  // Sorted, distinct; none is `page` itself.
  std::vector<storage::PageKey> Outlinks(const storage::PageKey& page,
                                         int known, int fresh);

 private:
  int64_t HostOf(int64_t i) const;
  int64_t HostSize(int64_t host) const {
    return first_[static_cast<size_t>(host) + 1] -
           first_[static_cast<size_t>(host)];
  }
  storage::PageKey Key(int64_t host, std::string_view path) const;
  int64_t HostNamed(std::string_view surt) const;
  // Draws one of the host's pages, more often one of the first.
  int64_t DrawOf(int64_t host);
  double Uniform() { return std::uniform_real_distribution<>(0, 1)(random_); }

  const int64_t pages_;
  std::vector<int64_t> first_;  // A host's first page; one more than hosts.
  std::mt19937_64 random_;
  uint64_t next_fresh_ = 0;
};

}  // namespace gannet::bench
