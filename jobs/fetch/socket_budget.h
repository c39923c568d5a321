// How many connections fit into the number of files that the process may have
// open. A function; thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gannet::jobs {

struct SocketBudget {
  size_t connections = 0;  // Under way at the same time.
  size_t idle = 0;         // Kept open until their hosts' next turn.
};

// Of `limit` open files (ulimit -n) a quarter, and 200 at least, is for the
// crawl DB, the archive, peers and the dashboard. `connections` are what the
// operator wants, `idle` what is good to have.
inline SocketBudget FitSockets(size_t connections, size_t idle,
                               uint64_t limit) {
  const uint64_t others = std::max<uint64_t>(limit / 4, 200);
  const uint64_t sockets = limit > others ? limit - others : 0;
  SocketBudget budget;
  budget.connections = std::max<size_t>(
      1, static_cast<size_t>(std::min<uint64_t>(connections, sockets)));
  budget.idle = static_cast<size_t>(std::min<uint64_t>(
      idle, sockets - std::min<uint64_t>(sockets, budget.connections)));
  return budget;
}

}  // namespace gannet::jobs
