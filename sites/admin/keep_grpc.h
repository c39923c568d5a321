// gRPC shuts its library down when the last channel or server is gone, and then
// waits up to ten seconds for its own threads (seen after a cancelled stream):
// a command would hang, and an agent would stop too late. So the library is
// started once and never shut down. A function; thread-safe.
#pragma once

#include <grpc/grpc.h>

namespace gannet::sites {

inline void KeepGrpc() {
  [[maybe_unused]] static const bool kept = (grpc_init(), true);
}

}  // namespace gannet::sites
