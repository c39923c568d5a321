#include "federation/peers/peer_server.h"

#include <fmt/format.h>
#include <grpc/grpc_security_constants.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <utility>

#include "federation/peers/grpc_status.h"
#include "federation/peers/put_session.h"
#include "federation/peers/put_turns.h"
#include "proto/peers.grpc.pb.h"
#include "storage/mutex.h"

namespace gannet::federation {
namespace {

// A stream holds a thread for each other site (and one of its own beside it),
// and so does each call.
constexpr int kMostThreads = 1024;

class Service final : public peers::Peers::Service {
  using Context = grpc::ServerContext;
  using Stream = PutSession::Stream;

 public:
  Service(const PeerServerSettings& settings, PeerVerbs& verbs,
          storage::Clock& clock)
      : is_secured_(settings.credentials != nullptr),
        site_name_of_(settings.site_name_of),
        verbs_(verbs),
        clock_(clock) {}

  grpc::Status PutIfAbsent(Context* context, Stream* stream) override {
    peers::PutRequest request;
    if (!stream->Read(&request)) return EndOf(context, std::nullopt);
    if (!request.has_greeting()) {
      return ToGrpc(verbs_.RefuseStream(
          absl::InvalidArgumentError("a stream begins with a greeting")));
    }
    peers::PutReply reply;
    const absl::StatusOr<PutPair> pair =
        verbs_.OpenPut(CallerOf(context), request.greeting(), reply);
    if (!pair.ok()) return ToGrpc(pair.status());
    const auto turn =
        turns_.Begin(pair->from.site, [context] { context->TryCancel(); });
    if (!turn.has_value()) return grpc::Status::CANCELLED;
    if (!stream->Write(reply)) return grpc::Status::CANCELLED;
    PutSession session(verbs_, *pair, reply.last(), *context, *stream, clock_);
    if (absl::Status s = session.Run(); !s.ok()) return ToGrpc(s);
    return EndOf(context, pair->from);
  }

  grpc::Status Beat(Context* context, const peers::BeatRequest* request,
                    peers::BeatReply* reply) override {
    return ToGrpc(verbs_.Beat(CallerOf(context), *request, *reply));
  }
  grpc::Status GetMap(Context* context, const peers::GetMapRequest* request,
                      peers::MapReply* reply) override {
    return ToGrpc(verbs_.GetMap(CallerOf(context), *request, *reply));
  }
  grpc::Status CompareAndSwapMap(Context* context,
                                 const peers::CompareAndSwapMapRequest* request,
                                 peers::MapReply* reply) override {
    return ToGrpc(
        verbs_.CompareAndSwapMap(CallerOf(context), *request, *reply));
  }
  grpc::Status Join(Context* context, const peers::JoinRequest* request,
                    peers::MapReply* reply) override {
    return ToGrpc(verbs_.Join(CallerOf(context), *request, *reply));
  }
  grpc::Status Verify(Context* context, const peers::VerifyRequest* request,
                      peers::VerifyReply* reply) override {
    storage::MutexLock one_at_a_time(&long_mu_);
    if (context->IsCancelled()) return grpc::Status::CANCELLED;
    return ToGrpc(verbs_.Verify(CallerOf(context), *request, *reply));
  }
  grpc::Status CountMoves(Context* context,
                          const peers::CountMovesRequest* request,
                          peers::MoveCounts* reply) override {
    storage::MutexLock one_at_a_time(&long_mu_);
    if (context->IsCancelled()) return grpc::Status::CANCELLED;
    return ToGrpc(verbs_.CountMoves(CallerOf(context), *request, *reply));
  }

 private:
  // Read() returns false both when the other side is gone and when a message
  // could not be read: nothing tells them apart for sure. (In the latter case
  // gRPC cancels the call, a moment before or after, and answers with its own
  // RESOURCE_EXHAUSTED.)
  grpc::Status EndOf(Context* context,
                     const std::optional<storage::Peer>& from) {
    verbs_.OnCut(from);
    return context->IsCancelled() ? grpc::Status::CANCELLED : grpc::Status::OK;
  }

  Caller CallerOf(const Context* context) const {
    Caller caller;
    caller.is_secured = is_secured_;
    if (!is_secured_) return caller;
    const auto pems = context->auth_context()->FindPropertyValues(
        GRPC_X509_PEM_CERT_PROPERTY_NAME);
    if (!pems.empty() && site_name_of_) {
      caller.site_name = site_name_of_({pems[0].data(), pems[0].size()});
    }
    return caller;
  }

  const bool is_secured_;
  const std::function<std::optional<std::string>(std::string_view)>
      site_name_of_;
  PeerVerbs& verbs_;
  storage::Clock& clock_;
  PutTurns turns_;
  // Calls that read the whole crawl DB run one at a time.
  storage::Mutex long_mu_;
};

}  // namespace

class PeerServer::Impl {
 public:
  Impl(const PeerServerSettings& settings, PeerVerbs& verbs,
       storage::Clock& clock)
      : service_(settings, verbs, clock) {}

  absl::Status Start(const PeerServerSettings& settings) {
    grpc::ServerBuilder builder;
    grpc::ResourceQuota quota("peers");
    quota.SetMaxThreads(kMostThreads);
    builder.SetResourceQuota(quota);
    builder.SetMaxReceiveMessageSize(kMostPeerMessageBytes);
    builder.SetMaxSendMessageSize(kMostPeerMessageBytes);
    // Otherwise two sites could listen on one port, and each would get some of
    // the calls.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    // PeerClient looks every ten seconds whether the other side is there.
    builder.AddChannelArgument(
        GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
    builder.RegisterService(&service_);
    builder.AddListeningPort(settings.address,
                             settings.credentials != nullptr
                                 ? settings.credentials
                                 : grpc::InsecureServerCredentials(),
                             &port_);
    storage::MutexLock lock(&mu_);
    server_ = builder.BuildAndStart();
    if (server_ != nullptr) return absl::OkStatus();
    return absl::FailedPreconditionError(
        fmt::format("listen.peers: cannot listen on {}; is the address another "
                    "program's, or not this machine's?",
                    settings.address));
  }

  void Stop(absl::Duration grace) ABSL_LOCKS_EXCLUDED(mu_) {
    std::unique_ptr<grpc::Server> server;
    {
      storage::MutexLock lock(&mu_);
      server = std::move(server_);
    }
    if (server == nullptr) return;
    server->Shutdown(std::chrono::system_clock::now() +
                     absl::ToChronoMilliseconds(grace));
  }

  int port() const { return port_; }

 private:
  Service service_;
  int port_ = 0;
  storage::Mutex mu_;
  std::unique_ptr<grpc::Server> server_ ABSL_GUARDED_BY(mu_);
};

PeerServer::PeerServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PeerServer::~PeerServer() { Stop(absl::ZeroDuration()); }

absl::StatusOr<std::unique_ptr<PeerServer>> PeerServer::Start(
    const PeerServerSettings& settings, PeerVerbs& verbs,
    storage::Clock& clock) {
  auto impl = std::make_unique<Impl>(settings, verbs, clock);
  if (absl::Status s = impl->Start(settings); !s.ok()) return s;
  return std::unique_ptr<PeerServer>(new PeerServer(std::move(impl)));
}

void PeerServer::Stop(absl::Duration grace) { impl_->Stop(grace); }
int PeerServer::port() const { return impl_->port(); }

}  // namespace gannet::federation
