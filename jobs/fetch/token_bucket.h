// TokenBucket limits how often something is done: a token is earned every
// 1/rate seconds, and those not spent add up to `burst`. It knows no clock: the
// caller brings the time. Not thread-safe.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace gannet::jobs {

class TokenBucket {
 public:
  // `per_second` of 0 or less: no limit. Starts full.
  TokenBucket(double per_second, double burst)
      : per_second_(per_second), burst_(std::max(burst, 1.0)) {}

  // Spends a token if there is one.
  bool TakeToken(absl::Time now) {
    if (per_second_ <= 0) return true;
    Earn(now);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }
  // When TakeToken() will succeed: `now` or later.
  absl::Time NextToken(absl::Time now) const {
    if (per_second_ <= 0) return now;
    TokenBucket then = *this;
    then.Earn(now);
    if (then.tokens_ >= 1) return now;
    // A microsecond later: Earn() rounds, and must not find 0.9999 of a token.
    return now + absl::Seconds((1 - then.tokens_) / per_second_) +
           absl::Microseconds(1);
  }

 private:
  void Earn(absl::Time now) {
    if (earned_at_ == absl::InfinitePast()) {
      tokens_ = burst_;
    } else if (now > earned_at_) {
      tokens_ =
          std::min(burst_, tokens_ + absl::ToDoubleSeconds(now - earned_at_) *
                                         per_second_);
    }
    // A clock that was set back earns nothing, and takes nothing away.
    earned_at_ = now;
  }

  double per_second_;
  double burst_;
  double tokens_ = 0;
  absl::Time earned_at_ = absl::InfinitePast();
};

}  // namespace gannet::jobs
