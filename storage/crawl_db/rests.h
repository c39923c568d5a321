// Rests is what is kept in memory of hosts that rest: until when, and whether
// some of their pages were put aside (frontier.cc). The rows of the schedule
// say the same, but generate asks for each page that it passes, and each beat
// between sites asks for the next rest that ends: neither may cost a disk read
// per host.
//
// Thread-safe. A caller that changes a host's rest holds the host's stripe, so
// that memory and disk agree.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/numeric/int128.h"
#include "storage/mutex.h"

namespace gannet::storage {

// Sentinel values of `rest_until_ms`; they sort before real times. Stored on
// disk.
inline constexpr int64_t kDueAtOnceMs = 1;  // Cleared: ends with the next wake.
inline constexpr int64_t kWakingMs = 2;     // Over, but some pages stand aside.

// No earlier than the sentinels.
inline int64_t RealTime(int64_t ms) { return std::max(ms, kWakingMs + 1); }

class Rests {
 public:
  // The host rests until then; or it is waking, with kWakingMs.
  void Begin(std::string_view host, int64_t until_ms) ABSL_LOCKS_EXCLUDED(mu_);
  void End(std::string_view host) ABSL_LOCKS_EXCLUDED(mu_);
  // Some of its pages were put aside. They may be deleted unnoticed: then its
  // rest ends with nothing to bring back. Nothing happens if it does not rest.
  void NotePagesAside(std::string_view host) ABSL_LOCKS_EXCLUDED(mu_);

  // Its pages are not to be generated.
  bool IsResting(std::string_view host) const ABSL_LOCKS_EXCLUDED(mu_);
  // It rests or is waking: some of its pages may stand aside.
  bool MayHavePagesAside(std::string_view host) const ABSL_LOCKS_EXCLUDED(mu_);
  // A cheap hint: mostly false, and then IsResting() need not be called.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
  // When the first rest ends of a host that has pages aside.
  std::optional<int64_t> NextWithPagesAside() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Rest {
    int64_t until_ms = 0;
    bool has_pages_aside = false;
  };

  mutable Mutex mu_;
  // By Hash128 of the host.
  absl::flat_hash_map<absl::uint128, Rest> rests_ ABSL_GUARDED_BY(mu_);
  // Of hosts with pages aside.
  std::set<std::pair<int64_t, absl::uint128>> by_end_ ABSL_GUARDED_BY(mu_);
  std::atomic<int64_t> count_ = 0;
};

}  // namespace gannet::storage
