#include "sites/agent/admin_server.h"

#include <fmt/format.h>
#include <grpc/grpc_security_constants.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <utility>
#include <vector>

#include "sites/admin/keep_grpc.h"
#include "sites/agent/call_watcher.h"
#include "sites/agent/certificate.h"
#include "sites/agent/tls_credentials.h"

namespace gannet::sites {
namespace {

constexpr int kMostMessageBytes = 16 << 20;
// Each call under way holds a thread; these are for calls beside the streams,
// and for those that are told that there are too many.
constexpr int kMostThreads = kMostStreams + 64;

// Lets in who has an administrator's certificate, whatever the call.
class AdministratorsOnly : public grpc::AuthMetadataProcessor {
 public:
  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata&, grpc::AuthContext* context,
                       OutputMetadata*, OutputMetadata*) override {
    for (const grpc::string_ref& pem :
         context->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME)) {
      if (IsAdministrator({pem.data(), pem.size()})) return grpc::Status::OK;
    }
    return grpc::Status(
        grpc::StatusCode::PERMISSION_DENIED,
        "this certificate is not an administrator's: it needs "
        "OU=administrators in its Subject, or the alternative name "
        "URI:gannet:administrator");
  }
};

std::shared_ptr<grpc::ServerCredentials> TcpCredentials(const TlsSection& tls) {
  auto credentials = TlsServerCredentials(tls);
  credentials->SetAuthMetadataProcessor(std::make_shared<AdministratorsOnly>());
  return credentials;
}

}  // namespace

AdminServer::AdminServer(AgentSocket socket, Admin& admin,
                         storage::Clock& clock)
    : socket_(std::move(socket)), service_(admin, clock) {}

AdminServer::~AdminServer() { Stop(absl::Seconds(1)); }

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(
    const AdminServerSettings& settings, Admin& admin, AdminCalls& calls,
    Log& log, storage::Clock& clock) {
  KeepGrpc();
  absl::StatusOr<AgentSocket> socket = AgentSocket::In(settings.data_folder);
  if (!socket.ok()) return socket.status();
  std::unique_ptr<AdminServer> server(
      new AdminServer(*std::move(socket), admin, clock));
  if (absl::Status s = server->Listen(settings, calls, log, clock); !s.ok()) {
    return s;
  }
  return server;
}

absl::Status AdminServer::Listen(const AdminServerSettings& settings,
                                 AdminCalls& calls, Log& log,
                                 storage::Clock& clock) {
  const absl::StatusOr<std::string> socket = socket_.Prepare();
  if (!socket.ok()) return socket.status();
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  grpc::ResourceQuota quota("admin");
  quota.SetMaxThreads(kMostThreads);
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(kMostMessageBytes);
  builder.SetMaxSendMessageSize(kMostMessageBytes);
  // Otherwise two agents could listen on one port, and each would get some of
  // the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // RemoteAdmin looks every 30 s whether the other side is there.
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.RegisterService(service_.service());
  std::vector<
      std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
      watchers;
  watchers.push_back(std::make_unique<CallWatcher>(calls, log, clock));
  builder.experimental().SetInterceptorCreators(std::move(watchers));
  builder.AddListeningPort("unix:" + *socket,
                           grpc::InsecureServerCredentials());
  if (!settings.address.empty()) {
    if (auto expires = CheckTlsFiles(settings.tls); !expires.ok()) {
      return expires.status();
    }
    builder.AddListeningPort(settings.address, TcpCredentials(settings.tls),
                             &port_);
  }
  storage::MutexLock lock(&mu_);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    return absl::FailedPreconditionError(fmt::format(
        "the admin API cannot listen on {}{}; is the address another "
        "program's, or not this machine's?",
        socket_.name(),
        settings.address.empty() ? "" : " and " + settings.address));
  }
  if (absl::Status s = socket_.Publish(); !s.ok()) return s;
  server_->GetHealthCheckService()->SetServingStatus(true);
  return absl::OkStatus();
}

void AdminServer::Stop(absl::Duration grace) {
  std::unique_ptr<grpc::Server> server;
  {
    storage::MutexLock lock(&mu_);
    server = std::move(server_);
  }
  if (server == nullptr) return;
  service_.EndStreams();
  server->GetHealthCheckService()->Shutdown();
  server->Shutdown(std::chrono::system_clock::now() +
                   absl::ToChronoMilliseconds(grace));
  server.reset();
  (void)socket_.Remove();
}

}  // namespace gannet::sites
