#include "tests/fake_web/tls_server.h"

#include <openssl/err.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "tests/fake_web/socket_bio.h"

namespace gannet::fake_web {
namespace {

// In ALPN's format: the name's length, then the name.
constexpr std::string_view kHttp11 = "\x08http/1.1";

constexpr std::string_view kPlainHttp =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n"
    "Connection: close\r\n\r\n"
    "<html><head><title>400 Bad Request</title></head>\r\n<body>\r\n"
    "<h1>Bad Request</h1>\r\n<p>Your browser sent a request that this server "
    "could not understand.</p>\r\n</body></html>\r\n";

class TlsStream final : public Stream {
 public:
  TlsStream(SSL_CTX* context, int fd) : fd_(fd), ssl_(SSL_new(context)) {
    BIO* bio = NewSocketBio(fd).release();
    SSL_set_bio(ssl_.get(), bio, bio);
    SSL_set_accept_state(ssl_.get());
    SSL_set_app_data(ssl_.get(), this);
  }

  ssize_t Receive(char* buffer, size_t size) override {
    if (silent_) return Discard(buffer, size);
    ERR_clear_error();
    const int n = SSL_read(ssl_.get(), buffer, static_cast<int>(size));
    if (n <= 0 &&
        SSL_get_error(ssl_.get(), n) == SSL_ERROR_WANT_CLIENT_HELLO_CB) {
      return RefuseHello(buffer, size);
    }
    return Result(n);
  }

  ssize_t Send(const char* bytes, size_t size) override {
    // OpenSSL refuses to write zero bytes, and writes at most one record (16
    // KiB) at a time anyway.
    ERR_clear_error();
    const size_t most = size_t{1} << 30;
    return Result(
        SSL_write(ssl_.get(), bytes, static_cast<int>(std::min(size, most))));
  }

  void FinishSending() override {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
    shutdown(fd_, SHUT_WR);
  }

  bool tls() const override { return true; }

  // For kTlsStall and kTlsPlainHttp: what to do instead of a handshake.
  void set_refusal(Nasty kind) { refusal_ = kind; }

 private:
  ssize_t Result(int n) {
    if (n > 0) return n;
    switch (SSL_get_error(ssl_.get(), n)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
      case SSL_ERROR_ZERO_RETURN:
        return 0;
      default:
        errno = EPROTO;
        return -1;
    }
  }

  ssize_t RefuseHello(char* buffer, size_t size) {
    if (refusal_ == Nasty::kTlsPlainHttp) {
      // It fits into an empty socket.
      send(fd_, kPlainHttp.data(), kPlainHttp.size(),
           MSG_DONTWAIT | MSG_NOSIGNAL);
      return 0;
    }
    silent_ = true;
    return Discard(buffer, size);
  }

  // Reads past the ClientHello, to see when the peer gives up.
  ssize_t Discard(char* buffer, size_t size) {
    ssize_t n;
    do {
      n = recv(fd_, buffer, size, MSG_DONTWAIT);
    } while (n > 0);
    return n;
  }

  const int fd_;
  const OpensslPtr<SSL> ssl_;
  Nasty refusal_ = Nasty::kNone;
  bool silent_ = false;
};

// The host name of a ClientHello, or empty. RFC 6066, 3: a list's length, then
// for each name its type (0: a host name), its length and its bytes. Clients
// send one.
std::string_view ServerName(SSL* ssl) {
  const unsigned char* bytes = nullptr;
  size_t size = 0;
  if (!SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &size) ||
      size < 5 || bytes[2] != TLSEXT_NAMETYPE_host_name) {
    return {};
  }
  const size_t length = size_t{bytes[3]} << 8 | bytes[4];
  if (length > size - 5) return {};
  return {reinterpret_cast<const char*>(bytes + 5), length};
}

int SelectAlpn(SSL*, const unsigned char** out, unsigned char* out_size,
               const unsigned char* in, unsigned int in_size, void*) {
  unsigned char* selected = nullptr;
  if (SSL_select_next_proto(
          &selected, out_size,
          reinterpret_cast<const unsigned char*>(kHttp11.data()),
          static_cast<unsigned>(kHttp11.size()), in,
          in_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = selected;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

TlsServer::TlsServer(const Web* web)
    : web_(web),
      certificates_(web->options().seed),
      context_(SSL_CTX_new(TLS_server_method())) {
  SSL_CTX* const c = context_.get();
  SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
  SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE |
                          SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                          SSL_MODE_RELEASE_BUFFERS);
  // Makes one recv per record instead of two.
  SSL_CTX_set_read_ahead(c, 1);
  SSL_CTX_use_certificate(c, certificates_.DefaultCertificate().get());
  SSL_CTX_use_PrivateKey(c, certificates_.host_key());
  SSL_CTX_set_alpn_select_cb(c, SelectAlpn, nullptr);
  SSL_CTX_set_client_hello_cb(c, OnClientHello, this);
}

std::unique_ptr<Stream> TlsServer::Accept(int fd) {
  return std::make_unique<TlsStream>(context_.get(), fd);
}

// Called before anything is agreed on, so that the version can still be
// changed.
int TlsServer::OnClientHello(SSL* ssl, int*, void* server) {
  auto* const self = static_cast<TlsServer*>(server);
  const uint32_t host = self->web_->hosts().Find(ServerName(ssl));
  if (host == Hosts::kNoHost) return SSL_CLIENT_HELLO_SUCCESS;
  const Nasty kind = self->web_->TlsKind(host);
  self->hellos_[static_cast<size_t>(kind)].fetch_add(1,
                                                     std::memory_order_relaxed);
  if (kind == Nasty::kTlsStall || kind == Nasty::kTlsPlainHttp) {
    static_cast<TlsStream*>(SSL_get_app_data(ssl))->set_refusal(kind);
    return SSL_CLIENT_HELLO_RETRY;
  }
  if (kind == Nasty::kTlsOldProtocol) {
    // These versions sign with SHA-1, which OpenSSL 3 allows at level 0 only.
    SSL_set_security_level(ssl, 0);
    SSL_set_min_proto_version(ssl, TLS1_VERSION);
    SSL_set_max_proto_version(ssl, TLS1_1_VERSION);
  }
  const OpensslPtr<X509> certificate =
      self->certificates_.Certificate(self->web_->hosts().Name(host), kind);
  // All certificates have the same key, so that only the certificate is set.
  return SSL_use_certificate(ssl, certificate.get()) == 1
             ? SSL_CLIENT_HELLO_SUCCESS
             : SSL_CLIENT_HELLO_ERROR;
}

}  // namespace gannet::fake_web
