#include "sites/admin/remote_admin.h"

#include <fmt/format.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "proto/admin.grpc.pb.h"
#include "sites/admin/agent_socket.h"
#include "sites/admin/keep_grpc.h"

namespace gannet::sites {
namespace {

constexpr int kMostMessageBytes = 16 << 20;  // As the agent's.

using Stub = admin::Admin::Stub;

// The numbers of gRPC's codes and Abseil's are the same.
absl::Status ToAbsl(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

class RemoteAdmin : public Admin {
 public:
  // `socket` is nothing for TCP. `where` names the agent in messages.
  RemoteAdmin(std::optional<AgentSocket> socket, std::string where,
              std::shared_ptr<grpc::Channel> channel,
              const RemoteAdminSettings& settings)
      : socket_(std::move(socket)),
        where_(std::move(where)),
        settings_(settings),
        stub_(admin::Admin::NewStub(std::move(channel))) {}

  absl::Status FirstLook() {
    admin::Status reply;
    return Ask(&Stub::GetStatus, {}, reply,
               socket_.has_value() ? settings_.connect_deadline
                                   : settings_.far_deadline);
  }

#define GANNET_ASK(Verb, Request, Reply, effect, kind)                       \
  absl::Status Verb(const admin::Request& request, admin::Reply& reply)      \
      override {                                                             \
    return Ask(                                                              \
        &Stub::Verb, request, reply,                                         \
        Deadline::kind == Deadline::kShort ? settings_.deadline : kForever); \
  }
#define GANNET_LISTEN(Verb, Request, Message, effect)            \
  absl::Status Verb(const admin::Request& request,               \
                    const Sink<admin::Message>& sink) override { \
    return Listen(&Stub::Verb, request, sink);                   \
  }
  GANNET_ADMIN_VERBS(GANNET_ASK, GANNET_LISTEN)
#undef GANNET_ASK
#undef GANNET_LISTEN

 private:
  static constexpr absl::Duration kForever = absl::InfiniteDuration();

  template <typename Request, typename Reply>
  absl::Status Ask(grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                const Request&, Reply*),
                   const Request& request, Reply& reply,
                   absl::Duration deadline) {
    grpc::ClientContext context;
    if (deadline != kForever) {
      context.set_deadline(std::chrono::system_clock::now() +
                           absl::ToChronoMilliseconds(deadline));
    }
    return Explain((*stub_.*method)(&context, request, &reply), deadline);
  }

  template <typename Request, typename Message>
  absl::Status Listen(std::unique_ptr<grpc::ClientReader<Message>> (
                          Stub::*method)(grpc::ClientContext*, const Request&),
                      const Request& request, const Sink<Message>& sink) {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<Message>> reader =
        (*stub_.*method)(&context, request);
    Message message;
    while (reader->Read(&message)) {
      if (sink(message)) continue;
      context.TryCancel();
      while (reader->Read(&message)) {
      }
      (void)reader->Finish();
      return absl::OkStatus();  // Our own cancellation is no error.
    }
    return Explain(reader->Finish(), kForever);
  }

  // What the operator can do about an agent that does not answer.
  absl::Status Explain(const grpc::Status& status,
                       absl::Duration deadline) const {
    if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
      return absl::UnavailableError(fmt::format(
          "{} has not answered within {}; look whether it is stopped or "
          "overloaded, and restart it if it stays so",
          where_, absl::FormatDuration(deadline)));
    }
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      return absl::UnavailableError(fmt::format(
          "{} cannot be reached ({}); look whether it runs ('gannet "
          "serve' starts it), and try again",
          where_, status.error_message()));
    }
    // The agent uses this code for full disks only; these messages are gRPC's.
    if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED) {
      if (status.error_message() == "Server Threadpool Exhausted") {
        return absl::AbortedError(
            fmt::format("{} has too many callers; try again", where_));
      }
      if (status.error_message().find("larger than max") != std::string::npos) {
        return absl::OutOfRangeError(fmt::format(
            "more than {} MiB in one message; ask for less at a time ({})",
            kMostMessageBytes >> 20, status.error_message()));
      }
    }
    // Cancelled neither by us nor because a round was stopped, whose message
    // names the round: gRPC's own status for calls that are open when a server
    // shuts down.
    if (status.error_code() == grpc::StatusCode::CANCELLED &&
        (status.error_message().empty() ||
         status.error_message() == "CANCELLED" ||
         status.error_message() == "Cancelled")) {
      return absl::UnavailableError(
          fmt::format("{} was stopped while it answered; try again", where_));
    }
    return ToAbsl(status);
  }

  const std::optional<AgentSocket> socket_;  // The channel needs its path.
  const std::string where_;
  const RemoteAdminSettings settings_;
  const std::unique_ptr<Stub> stub_;
};

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMostMessageBytes);
  arguments.SetMaxSendMessageSize(-1);  // The agent says what is too much.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // An agent that was restarted is soon found again.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return arguments;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || text.str().empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{} cannot be read; the tls files are a CA, a certificate "
                    "and its key, in PEM",
                    path));
  }
  return text.str();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Admin>> ConnectToAgent(
    const std::string& data_folder, const RemoteAdminSettings& settings) {
  absl::StatusOr<AgentSocket> socket = AgentSocket::In(data_folder);
  if (!socket.ok()) return socket.status();
  absl::Status knocked = socket->Knock();
  if (absl::IsPermissionDenied(knocked)) {
    return absl::UnavailableError(knocked.message());
  }
  if (!knocked.ok()) return knocked;
  KeepGrpc();
  const std::string where = fmt::format("the agent of {}", data_folder);
  auto channel = grpc::CreateCustomChannel("unix:" + socket->path(),
                                           grpc::InsecureChannelCredentials(),
                                           Arguments());
  auto admin = std::make_unique<RemoteAdmin>(*std::move(socket), where,
                                             std::move(channel), settings);
  if (absl::Status s = admin->FirstLook(); absl::IsUnavailable(s)) return s;
  return admin;
}

absl::StatusOr<std::unique_ptr<Admin>> ConnectToAddress(
    const std::string& address, const TlsSection& tls,
    const RemoteAdminSettings& settings) {
  KeepGrpc();
  grpc::SslCredentialsOptions options;
  for (const auto& [path, text] :
       {std::pair(&tls.ca, &options.pem_root_certs),
        std::pair(&tls.cert, &options.pem_cert_chain),
        std::pair(&tls.key, &options.pem_private_key)}) {
    absl::StatusOr<std::string> read = ReadFile(*path);
    if (!read.ok()) return read.status();
    *text = *std::move(read);
  }
  grpc::ChannelArguments arguments = Arguments();
  // A machine that vanished says nothing; a stream would wait for ever.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  auto channel = grpc::CreateCustomChannel(
      address, grpc::SslCredentials(options), arguments);
  auto admin = std::make_unique<RemoteAdmin>(
      std::nullopt, fmt::format("the agent at {}", address), std::move(channel),
      settings);
  if (absl::Status s = admin->FirstLook(); !s.ok()) return s;
  return admin;
}

}  // namespace gannet::sites
