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
  // For the crawl DB's tables (RocksDB's max_open_files; it keeps all of them
  // open if nothing is said, and a big DB has thousands). What it closes it
  // opens again when it reads it, so fewer cost time and break nothing.
  size_t db_files = 0;
};

// Of `limit` open files (ulimit -n) a quarter, and 200 at least, is for others
// than connections: half of 200 for the archive, peers, the dashboard, DNS and
// the DB's logs, the rest for its tables. `connections` are what the operator
// wants, `idle` what is good to have.
inline SocketBudget FitSockets(size_t connections, size_t idle,
                               uint64_t limit) {
  constexpr uint64_t kLeastOthers = 200;
  const uint64_t others = std::max<uint64_t>(limit / 4, kLeastOthers);
  const uint64_t sockets = limit > others ? limit - others : 0;
  SocketBudget budget;
  budget.connections = std::max<size_t>(
      1, static_cast<size_t>(std::min<uint64_t>(connections, sockets)));
  budget.idle = static_cast<size_t>(std::min<uint64_t>(
      idle, sockets - std::min<uint64_t>(sockets, budget.connections)));
  budget.db_files = static_cast<size_t>(others - kLeastOthers / 2);
  return budget;
}

}  // namespace gannet::jobs
