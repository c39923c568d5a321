// AdmissionBar finds how much cash a new URL needs to be among the best
// `places`: exactly, and without keeping more than twice that many numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace gannet::jobs {

class AdmissionBar {
 public:
  struct Height {
    int64_t least_cash = 0;  // With more, a URL gets in.
    // With just that much, so many do: those that tie share what is left.
    int64_t ties = std::numeric_limits<int64_t>::max();
  };

  explicit AdmissionBar(int64_t places)
      : places_(static_cast<size_t>(std::max<int64_t>(places, 0))) {}

  void Add(int64_t cash) {
    if (places_ == 0) return;
    best_.push_back(cash);
    if (best_.size() >= 2 * places_ && best_.size() >= kLeastCut) Cut();
  }

  Height Find() {
    if (places_ == 0) return {std::numeric_limits<int64_t>::max(), 0};
    if (best_.size() <= places_) return {};
    Cut();
    const int64_t least = *std::min_element(best_.begin(), best_.end());
    return {least, std::count(best_.begin(), best_.end(), least)};
  }

  // The best `places`, in no order. Leaves this empty.
  std::vector<int64_t> TakeBest() {
    Cut();
    return std::exchange(best_, {});
  }

 private:
  static constexpr size_t kLeastCut = 1024;  // Cutting few at a time is slow.

  void Cut() {
    if (best_.size() <= places_) return;
    std::nth_element(best_.begin(),
                     best_.begin() + static_cast<ptrdiff_t>(places_),
                     best_.end(), std::greater<>());
    best_.resize(places_);
  }

  const size_t places_;
  std::vector<int64_t> best_;
};

}  // namespace gannet::jobs
