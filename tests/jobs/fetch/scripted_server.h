// ScriptedServer listens on a loopback port and answers each request head as a
// test told it to: for what the fake web has not got, proxies above all.
// Connections stay open until the client, or an answer that says so, closes
// them. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "storage/mutex.h"

namespace gannet::jobs {

class ScriptedServer {
 public:
  // What `head` (with the empty line) gets; empty: the connection is closed.
  // Called in a thread of its own for each connection. Without one, whatever
  // the client says, the connection is closed.
  using Answer = std::function<std::string(const std::string& head)>;

  // After its answer to CONNECT it is a tunnel to that port of 127.0.0.1.
  explicit ScriptedServer(Answer answer, uint16_t tunnel_to = 0);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  uint16_t port() const { return port_; }
  int connections() const { return connections_; }
  std::vector<std::string> heads() const ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    return heads_;
  }

 private:
  void Listen();
  void Serve(int fd);
  void Tunnel(int fd) const;

  const Answer answer_;
  const uint16_t tunnel_to_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  mutable storage::Mutex mu_;
  std::vector<std::string> heads_ ABSL_GUARDED_BY(mu_);
  std::vector<int> open_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_;  // Of connections; Listen() adds.
  std::thread listening_;
};

// A whole answer with that body.
std::string Page(const std::string& body, const std::string& fields = "");

}  // namespace gannet::jobs
