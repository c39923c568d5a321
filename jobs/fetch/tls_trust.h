// TlsTrust is what every https connection of the process shares: the
// certificates of those who may vouch for servers, and the sessions of servers
// that were vouched for.
//
// The file of certificates is parsed once. Debian's libcurl would do it for
// each connection: it caches a parsed store only where no folder of
// certificates is compiled in (26.6 ms of CPU a connection; with this store
// 1.2 ms), and only per multi handle. The file is looked at once a second, and
// read again when it has changed; the sessions are forgotten then, since a
// resumed one is not judged by certificates. Connections that are open stay.
//
// Thread-safe.
#pragma once

#include <openssl/ssl.h>
#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "jobs/fetch/tls_session_cache.h"
#include "storage/mutex.h"

namespace gannet::jobs {

class TlsTrust {
 public:
  // What the process has for `file` (empty: the system's certificates), as it
  // is now; never destroyed.
  static TlsTrust* For(const std::string& file);

  // Whether the file can be read now; if not, says what to do. What was read
  // before stays; if nothing was ever read, no server is trusted.
  absl::Status Check() ABSL_LOCKS_EXCLUDED(mu_);

  // The same of a file that was read and cannot be read any more: what was read
  // stays in force, until the process ends.
  absl::Status CheckStillThere() ABSL_LOCKS_EXCLUDED(mu_);

  // Sets up the context of a connection to `port`, as libcurl made it. `now` is
  // steady.
  void SetUp(SSL_CTX* context, uint16_t port, absl::Time now)
      ABSL_LOCKS_EXCLUDED(mu_);

  // What the sessions take; for tests.
  size_t session_bytes() const { return sessions_.bytes(); }

 private:
  struct StoreDeleter {
    void operator()(X509_STORE* store) const { X509_STORE_free(store); }
  };
  using Store = std::unique_ptr<X509_STORE, StoreDeleter>;

  explicit TlsTrust(const std::string& file);
  // Reads the file if it has changed. On an error the old store stays.
  absl::Status Refresh() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Keeps the session of a server that was checked by the current certificates.
  void Keep(SSL* connection, SSL_SESSION* session) ABSL_LOCKS_EXCLUDED(mu_);
  static int OnNewSession(SSL* connection, SSL_SESSION* session);
  static void OnInfo(const SSL* connection, int where, int value);

  const bool is_system_;
  const std::string file_;
  TlsSessionCache sessions_{16 << 20};  // Some 10,000 servers.
  storage::Mutex mu_;
  Store store_ ABSL_GUARDED_BY(mu_);  // Never null.
  bool was_read_ ABSL_GUARDED_BY(mu_) = false;
  struct stat read_ ABSL_GUARDED_BY(mu_) = {};  // The file, when it was read.
  // By SetUp(), the last time.
  absl::Time looked_at_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
};

}  // namespace gannet::jobs
