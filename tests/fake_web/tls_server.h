// The TLS side of the server: takes connections of the TLS port and gives them
// the certificate of the host that their ClientHello names (SNI), or does what
// that host's TLS kind says. TLS 1.2 and 1.3, HTTP/1.1 by ALPN, session
// tickets.
//
// One SSL_CTX serves all hosts; a host's certificate is put into the connection
// when its name is known. A context per host would cost a hundred kilobytes for
// each of thousands. Thread-safe; the streams belong to their threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "tests/fake_web/certificate_maker.h"
#include "tests/fake_web/openssl_ptr.h"
#include "tests/fake_web/stream.h"
#include "tests/fake_web/web.h"

namespace gannet::fake_web {

class TlsServer {
 public:
  // `web` must outlive this.
  explicit TlsServer(const Web* web);
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  // The caller still owns `fd`. The first calls of Receive make the handshake.
  // The stream must not outlive this.
  std::unique_ptr<Stream> Accept(int fd);

  const CertificateMaker& certificates() const { return certificates_; }
  // How many ClientHellos named a host of this TLS kind.
  uint64_t Hellos(Nasty kind) const {
    return hellos_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
  }

 private:
  static int OnClientHello(SSL* ssl, int* alert, void* self);

  const Web* const web_;
  CertificateMaker certificates_;
  OpensslPtr<SSL_CTX> context_;
  std::array<std::atomic<uint64_t>, static_cast<size_t>(Nasty::kCount)>
      hellos_{};
};

}  // namespace gannet::fake_web
