// The admin API as a gRPC service: each call is handed to an Admin, and what it
// says is handed back. Each stream (watch, export) holds a thread while it
// lasts, so their number is bounded. Thread-safe.
#pragma once

#include <memory>

#include "sites/admin/admin.h"
#include "storage/clock.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace gannet::sites {

inline constexpr int kMostStreams = 64;

class AdminService {
 public:
  // Both must outlive this.
  AdminService(Admin& admin, storage::Clock& clock);
  ~AdminService();

  grpc::Service* service();

  // Streams end soon, with kUnavailable: the agent is stopping.
  void EndStreams();

 private:
  class Service;
  const std::unique_ptr<Service> service_;
};

}  // namespace gannet::sites
