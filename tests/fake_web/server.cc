#include "tests/fake_web/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/fake_web/tls_server.h"
#include "tests/fake_web/worker.h"

namespace gannet::fake_web {
namespace {

// Raises the limit as far as allowed: every connection needs a descriptor.
void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

absl::StatusOr<int> Listen(const char* flag, uint16_t port, uint16_t* chosen) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return absl::ResourceExhaustedError(
        fmt::format("no socket: {}", strerror(errno)));
  }
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  // Lets the kernel keep other machines out. Old kernels allow this to root
  // only; then there is only AcceptOne's check.
  setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(port);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(fd, 4096) != 0) {
    const std::string why = strerror(errno);
    close(fd);
    return absl::UnavailableError(
        fmt::format("cannot listen on port {}: {}; {} 0 takes a free one", port,
                    why, flag));
  }
  socklen_t size = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  *chosen = ntohs(address.sin_port);
  return fd;
}

}  // namespace

Server::Server(const Web* web, const WebClock* clock)
    : responder_(web, clock) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Web* web,
                                                      const WebClock* clock,
                                                      ServerOptions options) {
  if (options.threads < 1 || options.threads > 256) {
    return absl::InvalidArgumentError("--threads must be 1 to 256");
  }
  if (web->options().https_share > 0 && !options.tls_port) {
    return absl::InvalidArgumentError(
        fmt::format("--https {} needs a port for https: add --tls-port 0",
                    web->options().https_share));
  }
  RaiseDescriptorLimit();
  std::unique_ptr<Server> server(new Server(web, clock));
  auto listener = Listen("--port", options.port, &server->port_);
  if (!listener.ok()) return listener.status();
  server->listener_ = *listener;
  if (options.tls_port) {
    listener = Listen("--tls-port", *options.tls_port, &server->tls_port_);
    if (!listener.ok()) return listener.status();
    server->tls_listener_ = *listener;
    server->tls_ = std::make_unique<TlsServer>(web);
    server->responder_.set_ports(server->port_, server->tls_port_);
  }
  auto log =
      RequestLog::Open(options.log_path, web->options(), options.keep_log);
  if (!log.ok()) return log.status();
  server->log_ = *std::move(log);
  for (int i = 0; i < options.threads; ++i) {
    server->workers_.push_back(std::make_unique<Worker>(
        Worker::Listeners{server->listener_, server->tls_listener_,
                          server->tls_.get()},
        &server->responder_, server->log_.get()));
  }
  for (const auto& worker : server->workers_) {
    server->threads_.emplace_back([w = worker.get()] { w->Run(); });
  }
  return server;
}

absl::Status Server::Stop() {
  for (const auto& worker : workers_) worker->Stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  return log_ == nullptr ? absl::OkStatus() : log_->Flush();
}

Server::~Server() {
  Stop().IgnoreError();
  if (listener_ >= 0) close(listener_);
  if (tls_listener_ >= 0) close(tls_listener_);
}

Served Server::served() const {
  Served served;
  for (const auto& worker : workers_) worker->AddTo(&served);
  if (tls_ == nullptr) return served;
  for (const NastyInfo& info : AllNasty()) {
    if (info.group != "tls") continue;
    served.by_kind[static_cast<size_t>(info.kind)] += tls_->Hellos(info.kind);
  }
  return served;
}

std::string Server::CaPem() const {
  return tls_ == nullptr ? "" : tls_->certificates().CaPem();
}

}  // namespace gannet::fake_web
