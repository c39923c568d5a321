#include "jobs/fetch/tls_trust.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/err.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>

namespace gannet::jobs {
namespace {

constexpr absl::Duration kLookAtFile = absl::Seconds(1);

// The path that is compiled into libcurl; empty if there is none.
std::string SystemFile() {
  std::string file;
  CURL* easy = curl_easy_init();
  const char* path = nullptr;
  if (easy != nullptr &&
      curl_easy_getinfo(easy, CURLINFO_CAINFO, &path) == CURLE_OK &&
      path != nullptr) {
    file = path;
  }
  curl_easy_cleanup(easy);
  return file;
}

bool IsSame(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_dev == b.st_dev &&
         a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

// Where a context keeps its TlsTrust.
int ContextIndex() {
  static const int index =
      SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

// Where it keeps the port: in the place of the pointer itself.
int PortIndex() {
  static const int index =
      SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

TlsTrust* TrustOf(const SSL* connection) {
  return static_cast<TlsTrust*>(
      SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), ContextIndex()));
}

// A session belongs to a name and a port, for each port may be a server of its
// own. Servers without a name (addresses) get no SNI, and their sessions are
// not kept: "" then.
std::string ServerOf(const SSL* connection) {
  const char* name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
  if (name == nullptr) return "";
  return fmt::format("{}:{}", name,
                     reinterpret_cast<uintptr_t>(SSL_CTX_get_ex_data(
                         SSL_get_SSL_CTX(connection), PortIndex())));
}

}  // namespace

TlsTrust::TlsTrust(const std::string& file)
    : is_system_(file.empty()),
      file_(is_system_ ? SystemFile() : file),
      store_(X509_STORE_new()) {}

TlsTrust* TlsTrust::For(const std::string& file) {
  static storage::Mutex mu;
  static auto* const all = new std::map<std::string, TlsTrust*>();
  storage::MutexLock lock(&mu);
  TlsTrust*& trust = (*all)[file];
  if (trust == nullptr) trust = new TlsTrust(file);
  storage::MutexLock trust_lock(&trust->mu_);
  trust->Refresh().IgnoreError();  // Check() reports it.
  return trust;
}

absl::Status TlsTrust::Check() {
  storage::MutexLock lock(&mu_);
  const absl::Status status = Refresh();
  if (status.ok()) return status;
  return absl::InvalidArgumentError(fmt::format(
      "https servers cannot be checked: {}; {}", std::string(status.message()),
      is_system_ ? "install the package ca-certificates, or name a file of "
                   "your own in fetch.ca_file (--ca-file)"
                 : "fetch.ca_file (--ca-file) names a file in PEM with at "
                   "least one certificate"));
}

absl::Status TlsTrust::CheckStillThere() {
  storage::MutexLock lock(&mu_);
  if (!was_read_) return absl::OkStatus();  // Check() has reported it.
  const absl::Status status = Refresh();
  if (status.ok()) return status;
  return absl::FailedPreconditionError(fmt::format(
      "https servers are still checked by the certificates that were read "
      "before: now {}. Correct the file: the next restart needs it",
      std::string(status.message())));
}

absl::Status TlsTrust::Refresh() {
  struct stat now = {};
  if (stat(file_.c_str(), &now) != 0) {
    return absl::NotFoundError(
        fmt::format("'{}': {}", file_, std::strerror(errno)));
  }
  if (was_read_ && IsSame(now, read_)) return absl::OkStatus();
  Store store(X509_STORE_new());
  if (store == nullptr) return absl::ResourceExhaustedError("no memory");
  ERR_clear_error();
  if (X509_STORE_load_file(store.get(), file_.c_str()) != 1) {
    ERR_clear_error();
    return absl::InvalidArgumentError(
        fmt::format("'{}' has no certificates that can be read", file_));
  }
  // As libcurl's own: an intermediate in the file is trusted by itself.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  store_ = std::move(store);
  was_read_ = true;
  read_ = now;
  sessions_.Clear();
  return absl::OkStatus();
}

void TlsTrust::SetUp(SSL_CTX* context, uint16_t port, absl::Time now) {
  {
    storage::MutexLock lock(&mu_);
    if (now - looked_at_ >= kLookAtFile) {
      looked_at_ = now;
      // A file that is being replaced may be half there: what was read stays.
      Refresh().IgnoreError();
    }
    SSL_CTX_set1_cert_store(context, store_.get());
  }
  SSL_CTX_set_ex_data(context, ContextIndex(), this);
  SSL_CTX_set_ex_data(context, PortIndex(),
                      reinterpret_cast<void*>(static_cast<uintptr_t>(port)));
  // libcurl's describes each TLS message to a debug function: 5 % of all CPU.
  SSL_CTX_set_msg_callback(context, nullptr);
  // libcurl's default; most servers of TLS 1.2 know sessions by ticket only.
  SSL_CTX_clear_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(
      context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, OnNewSession);
  SSL_CTX_set_info_callback(context, OnInfo);
}

void TlsTrust::Keep(SSL* connection, SSL_SESSION* session) {
  const std::string server = ServerOf(connection);
  if (server.empty() || SSL_get_verify_result(connection) != X509_V_OK) return;
  storage::MutexLock lock(&mu_);
  // A ticket comes some time after the handshake. If the connection was checked
  // by older certificates, its session must not outlive them.
  if (SSL_CTX_get_cert_store(SSL_get_SSL_CTX(connection)) == store_.get()) {
    sessions_.Put(server, session);
  }
}

// Called for each ticket that a server sends. 0: we keep no reference.
int TlsTrust::OnNewSession(SSL* connection, SSL_SESSION* session) {
  TrustOf(connection)->Keep(connection, session);
  return 0;
}

// libcurl makes the SSL object and begins the handshake in one call, so this is
// the only moment when the object is there, has its server's name, and has not
// yet written its first message. (OpenSSL calls it with a const pointer; the
// object is its caller's and not const.)
void TlsTrust::OnInfo(const SSL* connection, int where, int) {
  if ((where & SSL_CB_HANDSHAKE_START) == 0 ||
      SSL_get_session(connection) != nullptr) {
    return;
  }
  const std::string server = ServerOf(connection);
  if (server.empty()) return;
  if (const SslSession session = TrustOf(connection)->sessions_.Find(server)) {
    SSL_set_session(const_cast<SSL*>(connection), session.get());
  }
}

}  // namespace gannet::jobs
