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

  absl::Status GetStatus(const admin::GetStatusRequest& request,
                         admin::Status& reply) override {
    return Ask(&Stub::GetStatus, request, reply, settings_.deadline);
  }
  absl::Status WatchStatus(const admin::WatchStatusRequest& request,
                           const Sink<admin::Status>& sink) override {
    return Listen(&Stub::WatchStatus, request, sink);
  }
  absl::Status ListRounds(const admin::ListRoundsRequest& request,
                          admin::RoundReports& reply) override {
    return Ask(&Stub::ListRounds, request, reply, settings_.deadline);
  }
  absl::Status ListHosts(const admin::ListHostsRequest& request,
                         admin::Hosts& reply) override {
    return Ask(&Stub::ListHosts, request, reply, kForever);
  }
  absl::Status GetFrontier(const admin::GetFrontierRequest& request,
                           admin::Frontier& reply) override {
    return Ask(&Stub::GetFrontier, request, reply, settings_.deadline);
  }
  absl::Status GetPage(const admin::GetPageRequest& request,
                       admin::Page& reply) override {
    return Ask(&Stub::GetPage, request, reply, settings_.deadline);
  }
  absl::Status GetPageBody(const admin::GetPageRequest& request,
                           const Sink<admin::PageBody>& sink) override {
    return Listen(&Stub::GetPageBody, request, sink);
  }
  absl::Status Export(const admin::ExportRequest& request,
                      const Sink<admin::ExportedLines>& sink) override {
    return Listen(&Stub::Export, request, sink);
  }
  absl::Status CheckUrl(const admin::CheckUrlRequest& request,
                        admin::UrlCheck& reply) override {
    return Ask(&Stub::CheckUrl, request, reply, settings_.deadline);
  }
  absl::Status GetRobots(const admin::GetRobotsRequest& request,
                         admin::StoredRobots& reply) override {
    return Ask(&Stub::GetRobots, request, reply, settings_.deadline);
  }
  absl::Status GetConfiguration(const admin::GetConfigurationRequest& request,
                                admin::Configuration& reply) override {
    return Ask(&Stub::GetConfiguration, request, reply, settings_.deadline);
  }
  absl::Status Verify(const admin::VerifyRequest& request,
                      admin::Verification& reply) override {
    return Ask(&Stub::Verify, request, reply, kForever);
  }
  absl::Status Inject(const admin::InjectRequest& request,
                      admin::Injected& reply) override {
    return Ask(&Stub::Inject, request, reply, settings_.deadline);
  }
  absl::Status Block(const admin::BlockRequest& request,
                     admin::BlockChange& reply) override {
    return Ask(&Stub::Block, request, reply, kForever);
  }
  absl::Status ListBlocked(const admin::ListBlockedRequest& request,
                           admin::BlockedDomains& reply) override {
    return Ask(&Stub::ListBlocked, request, reply, settings_.deadline);
  }
  absl::Status Forget(const admin::ForgetRequest& request,
                      admin::Forgotten& reply) override {
    return Ask(&Stub::Forget, request, reply, settings_.deadline);
  }
  absl::Status ListArchive(const admin::ListArchiveRequest& request,
                           admin::ArchiveFiles& reply) override {
    return Ask(&Stub::ListArchive, request, reply, settings_.deadline);
  }
  absl::Status FinishArchiveFile(const admin::FinishArchiveFileRequest& request,
                                 admin::FinishedArchiveFiles& reply) override {
    return Ask(&Stub::FinishArchiveFile, request, reply, kForever);
  }
  absl::Status ReleaseArchiveFile(
      const admin::ReleaseArchiveFileRequest& request,
      admin::ReleasedArchiveFile& reply) override {
    return Ask(&Stub::ReleaseArchiveFile, request, reply, kForever);
  }
  absl::Status Backup(const admin::BackupRequest& request,
                      admin::BackupDone& reply) override {
    return Ask(&Stub::Backup, request, reply, kForever);
  }
  absl::Status RunRounds(const admin::RunRoundsRequest& request,
                         const Sink<admin::RunProgress>& sink) override {
    return Listen(&Stub::RunRounds, request, sink);
  }
  absl::Status StopRounds(const admin::StopRoundsRequest& request,
                          admin::RoundsState& reply) override {
    return Ask(&Stub::StopRounds, request, reply, settings_.deadline);
  }
  absl::Status PauseRounds(const admin::PauseRoundsRequest& request,
                           admin::RoundsState& reply) override {
    return Ask(&Stub::PauseRounds, request, reply, settings_.deadline);
  }
  absl::Status ResumeRounds(const admin::ResumeRoundsRequest& request,
                            admin::RoundsState& reply) override {
    return Ask(&Stub::ResumeRounds, request, reply, settings_.deadline);
  }
  absl::Status Reload(const admin::ReloadRequest& request,
                      admin::Reloaded& reply) override {
    return Ask(&Stub::Reload, request, reply, settings_.deadline);
  }
  absl::Status GetFederation(const admin::GetFederationRequest& request,
                             admin::Federation& reply) override {
    return Ask(&Stub::GetFederation, request, reply, settings_.deadline);
  }
  absl::Status ChangeFederation(const admin::ChangeFederationRequest& request,
                                admin::FederationChange& reply) override {
    return Ask(&Stub::ChangeFederation, request, reply, kForever);
  }
  absl::Status PlanFederation(const admin::ChangeFederationRequest& request,
                              admin::FederationPlan& reply) override {
    return Ask(&Stub::PlanFederation, request, reply, kForever);
  }
  absl::Status VerifyFederation(const admin::VerifyRequest& request,
                                admin::Verification& reply) override {
    return Ask(&Stub::VerifyFederation, request, reply, kForever);
  }

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
