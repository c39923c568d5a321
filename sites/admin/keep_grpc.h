// gRPC ends its library when the last channel or server is gone, and then waits
// for its own left-overs, up to ten seconds (seen after a cancelled stream): a
// command would hang, and an agent would stop too late. So it is begun once and
// never ended; the process ends it. A function; thread-safe.
#pragma once

#include <grpc/grpc.h>

namespace gannet::sites {

inline void KeepGrpc() {
  [[maybe_unused]] static const bool kept = (grpc_init(), true);
}

}  // namespace gannet::sites
