#include "jobs/fetch/tls_session_cache.h"

#include <ctime>

namespace gannet::jobs {
namespace {

// Of an entry: list node, hash table slot, two strings.
constexpr size_t kOverhead = 160;

// By the machine's time, as OpenSSL stamped it: no Clock.
bool IsExpired(const SSL_SESSION* session) {
  return SSL_SESSION_get_time(session) + SSL_SESSION_get_timeout(session) <=
         std::time(nullptr);
}

}  // namespace

void TlsSessionCache::Put(std::string_view server, SSL_SESSION* session) {
  const int size = i2d_SSL_SESSION(session, nullptr);
  if (size <= 0) return;
  Entry entry;
  entry.server = std::string(server);
  entry.session.resize(static_cast<size_t>(size));
  auto* out = reinterpret_cast<unsigned char*>(entry.session.data());
  i2d_SSL_SESSION(session, &out);

  storage::MutexLock lock(&mu_);
  if (const auto known = by_server_.find(server); known != by_server_.end()) {
    Remove(known->second);
  }
  bytes_ += kOverhead + entry.server.size() + entry.session.size();
  oldest_first_.push_back(std::move(entry));
  by_server_[oldest_first_.back().server] = std::prev(oldest_first_.end());
  while (bytes_ > max_bytes_) Remove(oldest_first_.begin());
}

SslSession TlsSessionCache::Find(std::string_view server) {
  storage::MutexLock lock(&mu_);
  const auto known = by_server_.find(server);
  if (known == by_server_.end()) return nullptr;
  const std::string& bytes = known->second->session;
  const auto* in = reinterpret_cast<const unsigned char*>(bytes.data());
  SslSession session(
      d2i_SSL_SESSION(nullptr, &in, static_cast<long>(bytes.size())));
  if (session == nullptr || IsExpired(session.get())) {
    Remove(known->second);
    return nullptr;
  }
  return session;
}

void TlsSessionCache::Clear() {
  storage::MutexLock lock(&mu_);
  by_server_.clear();
  oldest_first_.clear();
  bytes_ = 0;
}

size_t TlsSessionCache::bytes() const {
  storage::MutexLock lock(&mu_);
  return bytes_;
}

void TlsSessionCache::Remove(Entries::iterator entry) {
  bytes_ -= kOverhead + entry->server.size() + entry->session.size();
  by_server_.erase(entry->server);
  oldest_first_.erase(entry);
}

}  // namespace gannet::jobs
