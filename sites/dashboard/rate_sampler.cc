#include "sites/dashboard/rate_sampler.h"

#include <algorithm>

#include "sites/admin/outcomes.h"

namespace gannet::sites {

RateSampler::RateSampler(Admin& admin, absl::Duration every,
                         const std::vector<RateSample>& history,
                         storage::Clock& clock)
    : admin_(admin), every_(every), clock_(clock) {
  for (const RateSample& sample : history) history_.Add(sample);
  thread_ = std::thread([this] { Run(); });
}

RateSampler::~RateSampler() {
  {
    storage::MutexLock lock(&mu_);
    stopping_ = true;
  }
  stop_asked_.SignalAll();
  thread_.join();
}

std::vector<Rate> RateSampler::Rates() const {
  storage::MutexLock lock(&mu_);
  return history_.Rates();
}

void RateSampler::Run() {
  absl::Time next = clock_.SteadyNow();
  while (true) {
    admin::Status status;
    // A site that does not answer leaves a gap, no more.
    const bool known = admin_.GetStatus({}, status).ok() && status.has_agent();
    const absl::Time now = clock_.SteadyNow();
    const admin::RunCounts& all = status.agent().lifetime();

    storage::MutexLock lock(&mu_);
    if (known) {
      history_.Add({clock_.Now(), Completed(all.outcomes()), all.bytes()});
    }
    // From now on if we are late: never two at once.
    next = std::max(next + every_, now + every_ / 2);
    while (!stopping_ && clock_.SteadyNow() < next) {
      clock_.WaitUntil(stop_asked_, &mu_, next);
    }
    if (stopping_) return;
  }
}

}  // namespace gannet::sites
