// Progress is what a running round shows to people who watch it: counts that
// the jobs raise as they go, read by the console and the dashboard at any
// moment. Only for display: nothing here is stored (the crawl DB has the true
// counts), and a reader may see one count change a moment before another that
// belongs to it. Thread-safe.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "proto/crawl_db.pb.h"

namespace gannet::jobs {

// What a round did with its pages, by outcome; the keys of `--json` (DESIGN,
// section 10).
struct OutcomeCounts {
  int64_t fetched = 0;    // With `unchanged` in it.
  int64_t unchanged = 0;  // 304, or the same digest as before.
  int64_t moved = 0;
  int64_t gone = 0;
  int64_t failed = 0;
  int64_t blocked = 0;
  int64_t released = 0;  // Given back unfetched: time limit, resting host.

  int64_t completed() const {
    return fetched + moved + gone + failed + blocked;
  }
};

// One look at a running round.
struct ProgressView {
  uint64_t round = 0;
  proto::RoundPhase phase = proto::NO_ROUND;
  absl::Time phase_started;
  absl::Time round_started;
  absl::Time deadline = absl::InfiniteFuture();  // crawl.time_limit's.
  int64_t planned = 0;       // Pages of the fetch list, done ones too.
  OutcomeCounts counts;      // Of this round.
  int64_t bytes = 0;         // Received, of this round.
  int64_t hosts_active = 0;  // With pages left to fetch.
  int64_t connections = 0;   // Requests under way.
  // How late the network thread is, and was at most in this round; and for how
  // long it held back new connections, because of that or for want of sockets.
  absl::Duration lag;
  absl::Duration max_lag;
  absl::Duration held_back;
  int64_t targets = 0;  // Update: links to settle in all,
  int64_t settled = 0;  // and settled so far.
  // Between rounds: when the next page or host is due.
  absl::Time waiting_until = absl::InfinitePast();
};

}  // namespace gannet::jobs
