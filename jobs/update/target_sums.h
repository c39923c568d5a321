// TargetSums adds up what a round's pages give to each target, for the targets
// in one range of keys. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::jobs {

// Keys after `from`, up to and including `to`; an empty `to` is the end.
struct KeyRange {
  std::string from;
  std::string to;
  bool Holds(std::string_view key) const {
    return key > from && (to.empty() || key <= to);
  }
};

class TargetSums {
 public:
  explicit TargetSums(KeyRange range) : range_(std::move(range)) {}

  void Add(const proto::OutlinkSegment& segment);
  size_t size() const { return sums_.size(); }
  // The same, with long keys counted for what they take.
  size_t weight() const { return sums_.size() + key_bytes_ / kKeyBytes; }
  static constexpr size_t kKeyBytes = 128;
  const KeyRange& range() const { return range_; }

  // In key order. Leaves this empty.
  std::vector<storage::Found> TakeSorted();
  // Calls `visit` with each target's cash.
  template <typename Visit>
  void ForEachCash(const Visit& visit) const {
    for (const auto& [key, sum] : sums_) visit(sum.cash);
  }

 private:
  struct Sum {
    int64_t cash = 0;
    uint32_t depth = UINT32_MAX;
    uint32_t redirects = UINT32_MAX;
  };
  std::string_view Keep(std::string_view key);

  const KeyRange range_;
  absl::flat_hash_map<std::string_view, Sum> sums_;
  // The bytes of the keys, in blocks: 400,000 small strings would cost more
  // than the sums.
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t key_bytes_ = 0;
  size_t used_ = 0;
  size_t capacity_ = 0;
};

}  // namespace gannet::jobs
