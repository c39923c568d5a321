// PeerServer listens to the other sites of the federation and brings their
// calls (proto/peers.proto) to PeerVerbs. Thread-safe.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "federation/peers/peer_verbs.h"
#include "storage/clock.h"

namespace gannet::federation {

// No message between sites is larger. A batch has some 100 KB.
inline constexpr int kMostPeerMessageBytes = 16 << 20;

struct PeerServerSettings {
  std::string address;  // "127.0.0.1:7701"; port 0: any.
  // Null: no TLS, and any caller may speak for any site.
  std::shared_ptr<grpc::ServerCredentials> credentials;
  // The name of the site that a certificate is for; that it is signed was
  // checked before. Nothing: it is no site's.
  std::function<std::optional<std::string>(std::string_view pem)> site_name_of;
};

class PeerServer {
 public:
  // `verbs` and `clock` must outlive it. kFailedPrecondition: the address
  // cannot be used.
  static absl::StatusOr<std::unique_ptr<PeerServer>> Start(
      const PeerServerSettings& settings, PeerVerbs& verbs,
      storage::Clock& clock);
  // Stops, if Stop() did not.
  ~PeerServer();

  // Calls under way get `grace`; streams are ended.
  void Stop(absl::Duration grace);

  int port() const;

 private:
  class Impl;
  explicit PeerServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gannet::federation
