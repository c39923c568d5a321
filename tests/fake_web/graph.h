// A link graph in memory (compressed sparse rows): 4 bytes per link and 8 per
// page. Read from `source target` lines, plain or .zst, '#' lines skipped.
// Immutable after it is made, so thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace gannet::fake_web {

class Graph {
 public:
  // kNotFound if there is no such file; kInvalidArgument names a bad line.
  static absl::StatusOr<Graph> Read(const std::string& path);
  // Links may come in any order.
  explicit Graph(std::vector<std::pair<uint32_t, uint32_t>> links);

  uint32_t pages() const { return static_cast<uint32_t>(starts_.size() - 1); }
  uint64_t links() const { return targets_.size(); }
  absl::Span<const uint32_t> Links(uint32_t page) const {
    return {targets_.data() + starts_[page], starts_[page + 1] - starts_[page]};
  }

 private:
  std::vector<uint64_t> starts_;
  std::vector<uint32_t> targets_;
};

}  // namespace gannet::fake_web
