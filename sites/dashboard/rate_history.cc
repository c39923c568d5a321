#include "sites/dashboard/rate_history.h"

namespace gannet::sites {
namespace {

constexpr size_t kMostSamples = 4096;

}  // namespace

void RateHistory::Add(const RateSample& sample) {
  if (!samples_.empty() && sample.at <= samples_.back().at) samples_.clear();
  samples_.push_back(sample);
  while (samples_.front().at < sample.at - keep_ ||
         samples_.size() > kMostSamples) {
    samples_.pop_front();
  }
}

std::vector<Rate> RateHistory::Rates() const {
  std::vector<Rate> rates;
  for (size_t i = 1; i < samples_.size(); ++i) {
    const RateSample& before = samples_[i - 1];
    const RateSample& after = samples_[i];
    if (after.pages < before.pages || after.bytes < before.bytes) continue;
    const double seconds = absl::ToDoubleSeconds(after.at - before.at);
    rates.push_back(
        {after.at, static_cast<double>(after.pages - before.pages) / seconds,
         static_cast<double>(after.bytes - before.bytes) / seconds});
  }
  return rates;
}

}  // namespace gannet::sites
