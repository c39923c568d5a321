// ConnectionPace says how many connections may be set up at the same time. A
// TLS handshake costs a thousand times what a request on an open connection
// does, so a busy machine that begins five hundred at once serves none of them
// in time, and healthy servers look dead. When the network thread is late, half
// as many are set up; when it is in time, an eighth more. (Additive-increase
// would take a minute to come back from a short stall.)
//
// Time comes in by argument. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/time/time.h"

namespace gannet::jobs {

class ConnectionPace {
 public:
  // Late by more than this, fewer connections are begun;
  static constexpr absl::Duration kLate = absl::Milliseconds(200);
  // by less than this, more again.
  static constexpr absl::Duration kInTime = absl::Milliseconds(100);
  // Servers that stall in the handshake hold their places until they time out:
  // with too few places they would hold up everybody.
  static constexpr size_t kLeast = 16;

  explicit ConnectionPace(size_t most)
      : most_(most), limit_(static_cast<double>(most)) {}

  // After each turn of the loop, which was late by `lag`; `connecting` are
  // being set up.
  void OnTurn(absl::Duration lag, size_t connecting, absl::Time now) {
    if (is_holding_back_) held_back_ += now - last_turn_;
    max_lag_ = std::max(max_lag_, lag);
    if (lag > kLate) {
      limit_ = std::max<double>(std::min(kLeast, most_), limit_ / 2);
    } else if (lag < kInTime && now - raised_ >= absl::Milliseconds(10)) {
      limit_ = std::min<double>(static_cast<double>(most_), limit_ * 1.125);
      raised_ = now;
    }
    is_holding_back_ = limit() < most_ && connecting >= limit();
    last_turn_ = now;
  }

  size_t limit() const { return static_cast<size_t>(limit_); }
  // Since the start: the most that a turn was late, and for how long
  // connections were held back.
  absl::Duration max_lag() const { return max_lag_; }
  absl::Duration held_back() const { return held_back_; }

 private:
  const size_t most_;
  double limit_;
  bool is_holding_back_ = false;
  absl::Time last_turn_ = absl::InfinitePast();
  absl::Time raised_ = absl::InfinitePast();
  absl::Duration max_lag_;
  absl::Duration held_back_;
};

}  // namespace gannet::jobs
