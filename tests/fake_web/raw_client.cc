#include "tests/fake_web/raw_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "tests/fake_web/socket_bio.h"

namespace gannet::fake_web {
namespace {

sockaddr_in AddressOf(const std::string& text, uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  return address;
}

}  // namespace

std::string WireResponse::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

TlsTrust::TlsTrust(const std::string& ca_pem)
    : context_(SSL_CTX_new(TLS_client_method())) {
  const OpensslPtr<BIO> bio(
      BIO_new_mem_buf(ca_pem.data(), static_cast<int>(ca_pem.size())));
  const OpensslPtr<X509> ca(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (ca != nullptr) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), ca.get());
  }
  // As in browsers and curl; OpenSSL by default allows older versions.
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
}

RawClient::RawClient(uint16_t port, const std::string& address,
                     const std::string& source) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (!source.empty()) {
    const sockaddr_in from = AddressOf(source, 0);
    bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof(from));
  }
  const sockaddr_in to = AddressOf(address, port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) {
    fd_ = fd;
  } else {
    close(fd);
  }
}

RawClient::~RawClient() {
  if (fd_ >= 0) close(fd_);
}

Handshake RawClient::StartTls(const TlsTrust& trust, const std::string& host) {
  tls_.reset(SSL_new(trust.context()));
  SSL* const ssl = tls_.get();
  BIO* bio = NewSocketBio(fd_).release();
  SSL_set_bio(ssl, bio, bio);
  if (!host.empty()) {
    SSL_set_tlsext_host_name(ssl, host.c_str());
    SSL_set1_host(ssl, host.c_str());
  }
  Handshake result;
  while (true) {
    ERR_clear_error();
    const int n = SSL_connect(ssl);
    if (n == 1) {
      result.end = Handshake::End::kDone;
      return result;
    }
    const int error = SSL_get_error(ssl, n);
    if (error == SSL_ERROR_WANT_READ) {
      if (WaitForBytes()) continue;
      result.end = Handshake::End::kTimedOut;
      return result;
    }
    result.verify_error = SSL_get_verify_result(ssl);
    const unsigned long code = ERR_peek_last_error();
    result.error = code == 0 ? "closed" : ERR_error_string(code, nullptr);
    result.end = result.verify_error != X509_V_OK ? Handshake::End::kNotTrusted
                 : error == SSL_ERROR_SYSCALL     ? Handshake::End::kClosed
                                                  : Handshake::End::kRefused;
    return result;
  }
}

bool RawClient::Send(std::string_view bytes) {
  while (tls_ != nullptr && !bytes.empty()) {
    // Requests are so small that a full socket buffer means a failure.
    const int n =
        SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  while (!bytes.empty()) {
    const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool RawClient::WaitForBytes() {
  pollfd poller = {.fd = fd_, .events = POLLIN, .revents = 0};
  const int wait_ms = static_cast<int>(absl::ToInt64Milliseconds(silence));
  if (poll(&poller, 1, wait_ms) > 0) return true;
  if (before_giving_up == nullptr) return false;
  before_giving_up();
  return poll(&poller, 1, 10) > 0;
}

RawClient::More RawClient::ReadMoreTls() {
  std::array<char, 65536> buffer;
  while (true) {
    ERR_clear_error();
    errno = 0;
    const int n =
        SSL_read(tls_.get(), buffer.data(), static_cast<int>(buffer.size()));
    if (n > 0) {
      in_.append(buffer.data(), static_cast<size_t>(n));
      return More::kBytes;
    }
    if (SSL_get_error(tls_.get(), n) != SSL_ERROR_WANT_READ) break;
    if (!WaitForBytes()) return More::kTimedOut;
  }
  return errno == ECONNRESET ? More::kReset : More::kClosed;
}

RawClient::More RawClient::ReadMore() {
  if (tls_ != nullptr) return ReadMoreTls();
  if (!WaitForBytes()) return More::kTimedOut;
  std::array<char, 65536> buffer;
  const ssize_t n = recv(fd_, buffer.data(), buffer.size(), 0);
  if (n == 0) return More::kClosed;
  if (n < 0) return More::kReset;
  in_.append(buffer.data(), static_cast<size_t>(n));
  return More::kBytes;
}

std::string RawClient::ReadAll() {
  while (ReadMore() == More::kBytes) {
  }
  return std::move(in_);
}

WireResponse RawClient::Read(bool head_only) {
  WireResponse response;
  auto ended = [&response](More more) {
    return more == More::kReset      ? WireEnd::kReset
           : more == More::kTimedOut ? WireEnd::kTimedOut
           : response.status == 0    ? WireEnd::kNotHttp
                                     : WireEnd::kCutShort;
  };
  size_t head_end;
  while ((head_end = in_.find("\r\n\r\n")) == in_.npos) {
    if (in_.size() > most_head) {
      response.end = WireEnd::kTooLong;
      return response;
    }
    const More more = ReadMore();
    if (more != More::kBytes) {
      response.end = ended(more);
      return response;
    }
  }
  if (!in_.starts_with("HTTP/1.1 ") || head_end < 12) return response;
  response.status = atoi(in_.c_str() + 9);
  std::string_view head = std::string_view(in_).substr(0, head_end);
  for (size_t at = head.find("\r\n"); at != head.npos;) {
    head.remove_prefix(at + 2);
    at = head.find("\r\n");
    const std::string_view line = head.substr(0, at);
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    std::string name(line.substr(0, colon));
    for (char& c : name) c = static_cast<char>(tolower(c));
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    response.headers.emplace(name, value);
  }
  const size_t body = head_end + 4;
  const std::string length = response.Header("content-length");
  const bool none = head_only || response.status == 304;
  size_t wanted = none ? 0 : std::string::npos;
  if (!none && !length.empty()) wanted = strtoull(length.c_str(), nullptr, 10);
  response.end = WireEnd::kWhole;
  while (wanted == std::string::npos || in_.size() - body < wanted) {
    if (in_.size() - body > most_body) {
      response.end = WireEnd::kTooLong;
      return response;
    }
    const More more = ReadMore();
    if (more == More::kBytes) continue;
    if (more == More::kClosed && wanted == std::string::npos) break;
    response.end = ended(more);
    break;
  }
  wanted = std::min(wanted, in_.size() - body);
  response.body = in_.substr(body, wanted);
  response.raw = in_.substr(0, body + wanted);
  in_.erase(0, body + wanted);
  return response;
}

WireResponse RawClient::Get(std::string_view host, std::string_view target,
                            std::string_view more_headers) {
  Send(fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", target, host,
                   more_headers));
  return Read();
}

WireResponse Fetch(uint16_t port, std::string_view host,
                   std::string_view target, std::string_view more_headers) {
  RawClient client(port);
  return client.Get(host, target, more_headers);
}

}  // namespace gannet::fake_web
