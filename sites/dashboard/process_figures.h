// What the kernel counts of this process, under the names that every Prometheus
// client uses. A function; thread-safe.
#pragma once

#include <cstdint>
#include <optional>

namespace gannet::sites {

// A figure is missing if /proc does not give it.
struct ProcessFigures {
  std::optional<double> cpu_seconds;
  std::optional<double> start_time_seconds;  // Since 1970.
  std::optional<int64_t> resident_bytes;
  std::optional<int64_t> open_fds;
  std::optional<int64_t> max_fds;
};

ProcessFigures LookAtProcess();

}  // namespace gannet::sites
