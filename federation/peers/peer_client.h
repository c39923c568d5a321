// PeerClient calls one other site. A call that the other side does not answer
// in time is kUnavailable, and says who does not answer. Thread-safe.
#pragma once

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "federation/exchange/pump.h"
#include "proto/peers.pb.h"
#include "storage/mutex.h"

namespace grpc {
class ClientContext;
}

namespace gannet::federation {

// Makes a channel to a site. With TLS its certificate must have the name.
using Connect = std::function<std::shared_ptr<grpc::Channel>(
    const std::string& address, const std::string& site_name)>;

// Without TLS.
std::shared_ptr<grpc::Channel> ConnectInsecurely(const std::string& address,
                                                 const std::string& site_name);
class PeerClient {
 public:
  // Name and address are for people; the name of a site that is asked for the
  // first time is not known.
  PeerClient(std::shared_ptr<grpc::Channel> channel, const std::string& name,
             const std::string& address = "");
  ~PeerClient();

  // A stream lives no longer than this.
  std::unique_ptr<PutStream> OpenPut();

  absl::Status Beat(const peers::BeatRequest& request, peers::BeatReply& reply,
                    absl::Duration at_most);
  absl::Status GetMap(const peers::GetMapRequest& request,
                      peers::MapReply& reply);
  absl::Status CompareAndSwapMap(const peers::CompareAndSwapMapRequest& request,
                                 peers::MapReply& reply);
  absl::Status Join(const peers::JoinRequest& request, peers::MapReply& reply);
  // These read the whole crawl DB, which takes time.
  absl::Status Verify(const peers::VerifyRequest& request,
                      peers::VerifyReply& reply);
  absl::Status CountMoves(const peers::CountMovesRequest& request,
                          peers::MoveCounts& reply);

  // Ends all calls under way, and those to come.
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  class Stub;
  class Call;
  class Stream;

  template <typename Method, typename Request, typename Reply>
  absl::Status Ask(Method method, const Request& request, Reply& reply,
                   absl::Duration at_most);
  absl::Status Explain(const absl::Status& status) const;

  const std::string who_;  // As in "site 'lima' says".
  const std::unique_ptr<Stub> stub_;
  storage::Mutex mu_;
  bool is_cancelled_ ABSL_GUARDED_BY(mu_) = false;
  std::set<grpc::ClientContext*> calls_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::federation
