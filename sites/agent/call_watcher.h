// CallWatcher sees every call of the admin API go out: it counts it, logs it
// (what changes something is news, what looks is for debugging), and sees to it
// that its status can be read: gRPC says INTERNAL and nothing else where a
// request was no message of that method, and a message may quote any bytes of
// the web. A gRPC interceptor, as only these see calls that never reach a
// handler. Thread-safe.
#pragma once

#include <grpcpp/support/server_interceptor.h>

#include "sites/agent/admin_calls.h"
#include "sites/agent/log.h"
#include "storage/clock.h"

namespace gannet::sites {

class CallWatcher
    : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  // All must outlive the server.
  CallWatcher(AdminCalls& calls, Log& log, storage::Clock& clock)
      : calls_(calls), log_(log), clock_(clock) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override;

 private:
  AdminCalls& calls_;
  Log& log_;
  storage::Clock& clock_;
};

}  // namespace gannet::sites
