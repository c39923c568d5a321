#include "jobs/update/target_sums.h"

#include <algorithm>
#include <cstring>

namespace gannet::jobs {
namespace {

constexpr size_t kBlockBytes = 1 << 20;

}  // namespace

std::string_view TargetSums::Keep(std::string_view key) {
  if (capacity_ - used_ < key.size()) {
    capacity_ = std::max(kBlockBytes, key.size());
    blocks_.push_back(std::make_unique<char[]>(capacity_));
    used_ = 0;
  }
  char* to = blocks_.back().get() + used_;
  std::memcpy(to, key.data(), key.size());
  used_ += key.size();
  key_bytes_ += key.size();
  return {to, key.size()};
}

void TargetSums::Add(const proto::OutlinkSegment& segment) {
  for (const std::string& target : segment.targets()) {
    if (!range_.Holds(target)) continue;
    auto it = sums_.find(std::string_view(target));
    if (it == sums_.end()) it = sums_.emplace(Keep(target), Sum()).first;
    Sum& sum = it->second;
    sum.cash += segment.cash_each();
    sum.depth = std::min(sum.depth, segment.depth());
    sum.redirects = std::min(sum.redirects, segment.redirects());
  }
}

std::vector<storage::Found> TargetSums::TakeSorted() {
  std::vector<std::pair<std::string_view, const Sum*>> order;
  order.reserve(sums_.size());
  for (const auto& [key, sum] : sums_) order.emplace_back(key, &sum);
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<storage::Found> targets;
  targets.reserve(order.size());
  for (const auto& [key, sum] : order) {
    targets.push_back({storage::PageKey{std::string(key)}, sum->cash,
                       sum->depth, sum->redirects});
  }
  sums_.clear();
  blocks_.clear();
  used_ = capacity_ = key_bytes_ = 0;
  return targets;
}

}  // namespace gannet::jobs
