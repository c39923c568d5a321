#include "federation/peers/peer_client.h"

#include <fmt/format.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <utility>

#include "federation/peers/channel_arguments.h"
#include "federation/peers/grpc_status.h"
#include "proto/peers.grpc.pb.h"

namespace gannet::federation {
namespace {

constexpr absl::Duration kQuick = absl::Seconds(5);
// A registrar first asks its own peers.
constexpr absl::Duration kChange = absl::Seconds(20);
constexpr absl::Duration kLong = absl::Hours(6);

}  // namespace

std::shared_ptr<grpc::Channel> ConnectInsecurely(const std::string& address,
                                                 const std::string&) {
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   PeerChannelArguments());
}

class PeerClient::Stub {
 public:
  explicit Stub(std::shared_ptr<grpc::Channel> channel)
      : stub(peers::Peers::NewStub(std::move(channel))) {}
  const std::unique_ptr<peers::Peers::Stub> stub;
};

// A call under way, which Cancel() finds.
class PeerClient::Call {
 public:
  explicit Call(PeerClient& client) : client_(client) {
    storage::MutexLock lock(&client_.mu_);
    client_.calls_.insert(&context);
    if (client_.is_cancelled_) context.TryCancel();
  }
  ~Call() {
    storage::MutexLock lock(&client_.mu_);
    client_.calls_.erase(&context);
  }
  grpc::ClientContext context;

 private:
  PeerClient& client_;
};

class PeerClient::Stream : public PutStream {
 public:
  explicit Stream(PeerClient& client)
      : client_(client),
        call_(client),
        stream_(client.stub_->stub->PutIfAbsent(&call_.context)) {}
  ~Stream() override {
    if (is_finished_) return;
    call_.context.TryCancel();
    (void)stream_->Finish();
  }

  bool Write(const peers::PutRequest& request) override {
    return stream_->Write(request);
  }
  bool Read(peers::PutReply& reply) override {
    return stream_->Read(&reply) && !reply.is_refused();
  }
  absl::Status Finish() override {
    is_finished_ = true;
    // A receiver that has refused a batch sends its status only after this; and
    // gRPC hands the status out only when all earlier replies were read.
    stream_->WritesDone();
    peers::PutReply unread;
    while (stream_->Read(&unread)) continue;
    const absl::Status status = ToAbsl(stream_->Finish());
    // The other side ended the stream without an error: it is shutting down.
    if (status.ok()) return absl::UnavailableError("the stream was ended");
    return client_.Explain(status);
  }

 private:
  PeerClient& client_;
  Call call_;
  const std::unique_ptr<
      grpc::ClientReaderWriter<peers::PutRequest, peers::PutReply>>
      stream_;
  bool is_finished_ = false;
};

PeerClient::PeerClient(std::shared_ptr<grpc::Channel> channel,
                       const std::string& name, const std::string& address)
    : who_(name.empty() ? "the site at " + address : "site '" + name + "'"),
      stub_(std::make_unique<Stub>(std::move(channel))) {}
PeerClient::~PeerClient() = default;

absl::Status PeerClient::Explain(const absl::Status& status) const {
  if (status.ok()) return status;
  const bool unanswered =
      absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status);
  return absl::Status(
      unanswered ? absl::StatusCode::kUnavailable : status.code(),
      fmt::format("{} {}: {}", who_, unanswered ? "cannot be reached" : "says",
                  std::string(status.message())));
}

template <typename Method, typename Request, typename Reply>
absl::Status PeerClient::Ask(Method method, const Request& request,
                             Reply& reply, absl::Duration at_most) {
  Call call(*this);
  call.context.set_deadline(std::chrono::system_clock::now() +
                            absl::ToChronoMilliseconds(at_most));
  return Explain(
      ToAbsl((*stub_->stub.*method)(&call.context, request, &reply)));
}

std::unique_ptr<PutStream> PeerClient::OpenPut() {
  return std::make_unique<Stream>(*this);
}

absl::Status PeerClient::Beat(const peers::BeatRequest& request,
                              peers::BeatReply& reply, absl::Duration at_most) {
  return Ask(&peers::Peers::Stub::Beat, request, reply, at_most);
}
absl::Status PeerClient::GetMap(const peers::GetMapRequest& request,
                                peers::MapReply& reply) {
  return Ask(&peers::Peers::Stub::GetMap, request, reply, kQuick);
}
absl::Status PeerClient::CompareAndSwapMap(
    const peers::CompareAndSwapMapRequest& request, peers::MapReply& reply) {
  return Ask(&peers::Peers::Stub::CompareAndSwapMap, request, reply, kChange);
}
absl::Status PeerClient::Join(const peers::JoinRequest& request,
                              peers::MapReply& reply) {
  return Ask(&peers::Peers::Stub::Join, request, reply, kChange);
}
absl::Status PeerClient::Verify(const peers::VerifyRequest& request,
                                peers::VerifyReply& reply) {
  return Ask(&peers::Peers::Stub::Verify, request, reply, kLong);
}
absl::Status PeerClient::CountMoves(const peers::CountMovesRequest& request,
                                    peers::MoveCounts& reply) {
  return Ask(&peers::Peers::Stub::CountMoves, request, reply, kLong);
}

void PeerClient::Cancel() {
  storage::MutexLock lock(&mu_);
  is_cancelled_ = true;
  for (grpc::ClientContext* context : calls_) context->TryCancel();
}

}  // namespace gannet::federation
