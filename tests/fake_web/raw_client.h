// A blocking HTTP client for tests that must see the raw bytes: it sends what
// it is told, over TLS if asked to, and reports exactly how the answer ended.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "tests/fake_web/openssl_ptr.h"

namespace gannet::fake_web {

enum class WireEnd {
  kWhole,     // As long as its Content-Length says, or closed without one.
  kCutShort,  // Closed before its Content-Length was reached.
  kReset,     // RST.
  kTimedOut,  // The server was silent for too long.
  kTooLong,   // More bytes than the client wants.
  kNotHttp,   // No status line.
};

struct WireResponse {
  WireEnd end = WireEnd::kNotHttp;
  int status = 0;
  std::multimap<std::string, std::string> headers;  // Names in lower case.
  std::string body;
  std::string raw;

  std::string Header(const std::string& name) const;
};

// What a TLS client trusts: one CA and nothing else. Thread-safe.
class TlsTrust {
 public:
  explicit TlsTrust(const std::string& ca_pem);
  SSL_CTX* context() const { return context_.get(); }

 private:
  OpensslPtr<SSL_CTX> context_;
};

// How a handshake ended.
struct Handshake {
  enum class End {
    kDone,
    kNotTrusted,  // `verify_error` says why.
    kRefused,     // By the server's alert, or what it sent is not TLS.
    kClosed,
    kTimedOut,
  };
  End end = End::kRefused;
  long verify_error = 0;  // X509_V_ERR_...
  std::string error;      // OpenSSL's words.
};

class RawClient {
 public:
  // Connects to `address` (an IPv4 address such as 127.3.2.1), from `source`
  // if it is not empty.
  explicit RawClient(uint16_t port, const std::string& address = "127.0.0.1",
                     const std::string& source = "");
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return fd_ >= 0; }
  // Makes the handshake; everything after it goes through TLS. The certificate
  // must be trusted, and good for `host`, which is sent as SNI unless it is
  // empty.
  Handshake StartTls(const TlsTrust& trust, const std::string& host);
  SSL* tls() const { return tls_.get(); }  // Null before StartTls.
  bool Send(std::string_view bytes);
  // Reads one response. HEAD responses have no body.
  WireResponse Read(bool head_only = false);
  // Reads until the server closes or falls silent.
  std::string ReadAll();

  // Sends a GET on this connection and reads the response.
  WireResponse Get(std::string_view host, std::string_view target,
                   std::string_view more_headers = "");

  absl::Duration silence = absl::Seconds(5);  // Then kTimedOut.
  // Called after `silence`, before giving up. If it first makes the server do
  // something else, the silence is on purpose and the server is not just slow
  // on a busy machine.
  std::function<void()> before_giving_up;
  size_t most_head = 256 * 1024;
  size_t most_body = 8 << 20;

 private:
  enum class More { kBytes, kClosed, kReset, kTimedOut };
  More ReadMore();
  // Waits until the socket can be read, or gives up.
  bool WaitForBytes();
  More ReadMoreTls();

  int fd_ = -1;
  OpensslPtr<SSL> tls_;
  std::string in_;
};

// The server's port for https URLs, and the CA to trust.
struct TlsTarget {
  uint16_t port = 0;
  std::string ca_pem;
};

// Sends one GET on a connection of its own.
WireResponse Fetch(uint16_t port, std::string_view host,
                   std::string_view target, std::string_view more_headers = "");

}  // namespace gannet::fake_web
