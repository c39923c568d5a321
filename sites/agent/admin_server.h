// AdminServer serves the admin API: always on the socket in the data folder,
// which only its owner can open, and over TCP if the configuration says so, to
// who shows an administrator's certificate (certificate.h). Reflection and
// health checking are on, so that tools such as grpcurl and load balancers need
// nothing from us. Renewed certificates are taken up within ten seconds.
// Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sites/admin/admin.h"
#include "sites/admin/agent_socket.h"
#include "sites/agent/admin_calls.h"
#include "sites/agent/admin_service.h"
#include "sites/agent/log.h"
#include "sites/config/site_config.h"
#include "storage/clock.h"
#include "storage/mutex.h"

namespace grpc {
class Server;
}  // namespace grpc

namespace gannet::sites {

struct AdminServerSettings {
  std::string data_folder;  // This process must hold it.
  std::string address;      // listen.admin; empty: the socket only.
  TlsSection tls;
};

class AdminServer {
 public:
  // A socket left by an agent that was killed is removed. All four must
  // outlive this. kInvalidArgument: the TLS files cannot be used;
  // kFailedPrecondition: the address is taken.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(
      const AdminServerSettings& settings, Admin& admin, AdminCalls& calls,
      Log& log, storage::Clock& clock);

  // Stops, if Stop() did not.
  ~AdminServer();

  // Takes no more calls, ends the streams, and gives other calls `grace` to end
  // by themselves. A verb that goes on after that (Verify, Backup) is waited
  // for; a caller that cannot wait ends the process.
  void Stop(absl::Duration grace) ABSL_LOCKS_EXCLUDED(mu_);

  int port() const { return port_; }  // Of the address; 0 without.

 private:
  AdminServer(AgentSocket socket, Admin& admin, storage::Clock& clock);
  absl::Status Listen(const AdminServerSettings& settings, AdminCalls& calls,
                      Log& log, storage::Clock& clock) ABSL_LOCKS_EXCLUDED(mu_);

  const AgentSocket socket_;
  AdminService service_;
  int port_ = 0;
  storage::Mutex mu_;
  std::unique_ptr<grpc::Server> server_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::sites
