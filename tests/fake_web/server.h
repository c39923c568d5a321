// Serves a Web over HTTP/1.1 on every address of 127.0.0.0/8 and on nothing
// else: one port for http and, if wanted, one for https. The socket listens on
// the loopback device only (SO_BINDTODEVICE), and a connection made to any
// other address of this machine is closed unread.
//
// Each thread has its own epoll loop; a connection stays with the thread that
// accepted it, so connections need no locks. Delays and slow bytes are timers
// of the loop. Requests on one connection are answered in order, pipelined or
// not. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/fake_web/request_log.h"
#include "tests/fake_web/responder.h"
#include "tests/fake_web/web.h"
#include "tests/fake_web/web_clock.h"

namespace gannet::fake_web {

struct ServerOptions {
  uint16_t port = 0;  // 0: any free port.
  // The port for https; 0: any free one. A web with https hosts needs it.
  std::optional<uint16_t> tls_port = std::nullopt;
  int threads = 1;
  std::string log_path = "";  // Empty: no file.
  bool keep_log = false;      // For Server::Log(); takes memory per request.
};

// Counts since the start.
struct Served {
  uint64_t connections = 0;
  uint64_t requests = 0;
  uint64_t bytes = 0;
  // By Nasty: requests, and for the TLS kinds ClientHellos.
  std::vector<uint64_t> by_kind;
  std::vector<uint64_t> by_status;  // [2] is 2xx, ...; [0]: no status line.
};

class TlsServer;
class Worker;

class Server {
 public:
  // `web` and `clock` must outlive the server. kUnavailable if a port is taken;
  // kInvalidArgument if the web has https hosts and there is no port for them;
  // kPermissionDenied if the log cannot be written.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Web* web,
                                                       const WebClock* clock,
                                                       ServerOptions options);
  ~Server();  // Stops.
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const { return port_; }
  uint16_t tls_port() const { return tls_port_; }  // 0: none.
  // The CA of the https hosts, as PEM; empty without a TLS port. The same as
  // CertificateMaker(seed).CaPem() but for the signature.
  std::string CaPem() const;
  // Closes all connections; what is being answered is logged as aborted.
  // Returns an error if the log could not be written. May be called again.
  absl::Status Stop();

  Served served() const;
  // What was asked, in the order in which answers ended. REQUIRES:
  // options.keep_log. An entry may come a moment after the asker has the last
  // byte; after Stop() all are there.
  std::vector<LogEntry> Log() const { return log_->Entries(); }
  // Writes what is buffered to the log file.
  absl::Status FlushLog() { return log_->Flush(); }

 private:
  Server(const Web* web, const WebClock* clock);

  Responder responder_;
  std::unique_ptr<RequestLog> log_;
  uint16_t port_ = 0;
  uint16_t tls_port_ = 0;
  int listener_ = -1;
  int tls_listener_ = -1;
  std::unique_ptr<TlsServer> tls_;  // Null without a TLS port.
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

}  // namespace gannet::fake_web
