// TlsSessionCache remembers the TLS sessions of servers, so that the next
// connection to a host, in this round or a later one, needs no certificates:
// a resumed handshake costs a third of the CPU time, here and there.
//
// libcurl's own cache is no help: a CURLSH keeps eight sessions (lib/share.c of
// 7.88), and without one each handle keeps five of its own. A session is kept
// as bytes, because in memory it holds on to the server's whole certificate
// chain. The oldest go first when there are too many bytes.
//
// Thread-safe.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "storage/mutex.h"

namespace gannet::jobs {

struct SslSessionDeleter {
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using SslSession = std::unique_ptr<SSL_SESSION, SslSessionDeleter>;

class TlsSessionCache {
 public:
  explicit TlsSessionCache(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Keeps `session` for `server`, in place of an earlier one.
  void Put(std::string_view server, SSL_SESSION* session)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The session of `server`, or null if none is known or it has expired.
  SslSession Find(std::string_view server) ABSL_LOCKS_EXCLUDED(mu_);
  // Called when the trusted certificates change: a resumed session skips the
  // check of certificates.
  void Clear() ABSL_LOCKS_EXCLUDED(mu_);

  size_t bytes() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    std::string server;
    std::string session;  // ASN.1, as i2d_SSL_SESSION() writes it.
  };
  using Entries = std::list<Entry>;

  void Remove(Entries::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const size_t max_bytes_;
  mutable storage::Mutex mu_;
  Entries oldest_first_ ABSL_GUARDED_BY(mu_);
  // The keys are views into oldest_first_, whose nodes never move.
  absl::flat_hash_map<std::string_view, Entries::iterator> by_server_
      ABSL_GUARDED_BY(mu_);
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace gannet::jobs
