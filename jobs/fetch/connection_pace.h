// ConnectionPace says whether this machine can have one more connection. Two
// things may stand in the way.
//
// Time: a TLS handshake costs a thousand times what a request on an open
// connection does, so a busy machine that begins five hundred at once serves
// none of them in time, and healthy servers look dead. When the network thread
// is late, half as many are set up; when it is in time, an eighth more.
// (Additive increase would take a minute to come back from a short stall.)
//
// Sockets: the process, or the system, may run out of file handles or ports
// whatever the limit says. Then the number of connections may not grow, none is
// begun for a moment, and after a while one or two more are tried.
//
// Time comes in by argument. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace gannet::jobs {

class ConnectionPace {
 public:
  // If a turn is later than this, fewer connections are begun;
  static constexpr absl::Duration kLate = absl::Milliseconds(200);
  // if it is less late than this, more again.
  static constexpr absl::Duration kInTime = absl::Milliseconds(100);
  // Servers that stall in the handshake hold their places until they time out:
  // with too few places they would hold up everybody.
  static constexpr size_t kLeast = 16;
  // After a socket could not be had, nothing is begun for so long,
  static constexpr absl::Duration kPause = absl::Milliseconds(100);
  // for so long the number of connections may not grow,
  static constexpr absl::Duration kBeforeMore = absl::Seconds(5);
  // and after so long without a single socket IsHopeless().
  static constexpr absl::Duration kHopeless = absl::Minutes(2);

  explicit ConnectionPace(size_t most)
      : most_(most), setting_up_(static_cast<double>(most)), open_(most) {}

  // Of `active` requests `connecting` are still to be connected.
  bool MayBegin(size_t active, size_t connecting, absl::Time now) const {
    return active < open_ && connecting < limit() &&
           now >= without_socket_ + kPause;
  }

  // After each turn of the loop, which was late by `lag`. `is_wanted`: the turn
  // of some host has come.
  void OnTurn(absl::Duration lag, size_t active, size_t connecting,
              bool is_wanted, absl::Time now) {
    if (is_holding_back_) held_back_ += now - last_turn_;
    max_lag_ = std::max(max_lag_, lag);
    if (lag > kLate) {
      setting_up_ = std::max<double>(std::min(kLeast, most_), setting_up_ / 2);
    } else if (lag < kInTime && now - raised_ >= absl::Milliseconds(10)) {
      setting_up_ =
          std::min<double>(static_cast<double>(most_), setting_up_ * 1.125);
      raised_ = now;
    }
    if (open_ < most_ && now >= open_raised_ + kBeforeMore) {
      open_ = std::min(most_, open_ + open_ / 8 + 1);
      open_raised_ = now;
    }
    // With all the connections that the operator allows, nothing is held back.
    is_holding_back_ =
        is_wanted && active < most_ && !MayBegin(active, connecting, now);
    last_turn_ = now;
  }

  // A socket could not be had; `active` requests have one.
  void OnNoSocket(size_t active, absl::Time now) {
    open_ = std::max<size_t>(1, std::min(open_, active));
    open_raised_ = now;
    without_socket_ = now;
    if (in_vain_++ == 0) in_vain_since_ = now;
  }
  // A request got a socket.
  void OnSocket() {
    in_vain_ = 0;
    in_vain_since_ = absl::InfiniteFuture();
  }
  // Failed attempts since the last socket that could be had.
  int64_t in_vain() const { return in_vain_; }
  // Only the operator can help.
  bool IsHopeless(absl::Time now) const {
    return now - in_vain_since_ >= kHopeless;
  }

  // How many may be set up at the same time, and be open.
  size_t limit() const { return static_cast<size_t>(setting_up_); }
  size_t open_limit() const { return open_; }
  // Since the start: the most that a turn was late, and for how long
  // connections were held back.
  absl::Duration max_lag() const { return max_lag_; }
  absl::Duration held_back() const { return held_back_; }

 private:
  const size_t most_;
  double setting_up_;
  size_t open_;
  bool is_holding_back_ = false;
  absl::Time last_turn_ = absl::InfinitePast();
  absl::Time raised_ = absl::InfinitePast();
  absl::Time open_raised_ = absl::InfinitePast();
  absl::Time without_socket_ = absl::InfinitePast();
  int64_t in_vain_ = 0;
  absl::Time in_vain_since_ = absl::InfiniteFuture();
  absl::Duration max_lag_;
  absl::Duration held_back_;
};

}  // namespace gannet::jobs
