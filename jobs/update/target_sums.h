// TargetSums adds up what a round's pages give to each target, for the targets
// in one range of keys. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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
  // How many targets, with long keys counted for what they take.
  size_t weight() const { return weight_; }
  static size_t WeightOf(std::string_view key) {
    return 1 + key.size() / (kKeyBytes + 1);
  }
  const KeyRange& range() const { return range_; }

  // Puts them into key order. REQUIRES, for what follows: this was called, and
  // nothing was added since.
  void Sort();
  size_t size() const { return sorted_.size(); }
  // The number of the first whose key is greater.
  size_t FirstAfter(std::string_view key) const;
  // Ends with the last target of a host, unless one host has more than `most`.
  std::vector<storage::FoundUrl> Batch(size_t from, size_t most) const;

 private:
  struct Sum {
    int64_t cash = 0;
    uint32_t depth = UINT32_MAX;
    uint32_t redirects = UINT32_MAX;
  };
  static constexpr size_t kKeyBytes = 128;  // Most keys are shorter.
  std::string_view Keep(std::string_view key);

  const KeyRange range_;
  absl::flat_hash_map<std::string_view, Sum> sums_;
  std::vector<std::pair<std::string_view, Sum>> sorted_;
  // The bytes of the keys, in blocks: 400,000 small strings would cost more
  // than the sums.
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t weight_ = 0;
  size_t used_ = 0;
  size_t capacity_ = 0;
};

}  // namespace gannet::jobs
