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
  weight_ += WeightOf(key);
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

void TargetSums::Sort() {
  sorted_.assign(sums_.begin(), sums_.end());
  sums_ = {};  // Frees it.
  std::sort(sorted_.begin(), sorted_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}

size_t TargetSums::FirstAfter(std::string_view key) const {
  const auto it = std::upper_bound(
      sorted_.begin(), sorted_.end(), key,
      [](std::string_view k, const auto& target) { return k < target.first; });
  return static_cast<size_t>(it - sorted_.begin());
}

std::vector<storage::FoundUrl> TargetSums::Batch(size_t from,
                                                 size_t most) const {
  std::vector<storage::FoundUrl> batch;
  size_t end = from + std::min(most, sorted_.size() - from);
  if (end < sorted_.size()) {
    const std::string_view host = storage::HostPartOf(sorted_[end].first);
    size_t cut = end;
    while (cut > from && storage::HostPartOf(sorted_[cut - 1].first) == host) {
      --cut;
    }
    if (cut > from) end = cut;
  }
  batch.reserve(end - from);
  for (size_t i = from; i < end; ++i) {
    const auto& [key, sum] = sorted_[i];
    batch.push_back({storage::PageKey{std::string(key)}, sum.cash, sum.depth,
                     sum.redirects});
  }
  return batch;
}

}  // namespace gannet::jobs
