// One thread of the server: an epoll loop, its connections and their timers.
// Run() is called by one thread; Stop() and the counters may be used by any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "tests/fake_web/connection.h"
#include "tests/fake_web/server.h"
#include "tests/fake_web/tls_server.h"

namespace gannet::fake_web {

class Worker final : public ConnectionContext {
 public:
  // Where connections come from. `tls` is null, and `tls_listener` -1, if there
  // is no TLS port.
  struct Listeners {
    int listener = -1;
    int tls_listener = -1;
    TlsServer* tls = nullptr;
  };

  // `listeners`, `responder` and `log` must outlive the worker.
  Worker(Listeners listeners, Responder* responder, RequestLog* log);
  ~Worker();

  void Run();
  void Stop();
  void AddTo(Served* served) const;

  Responder* responder() override { return responder_; }
  void Answered(LogEntry entry) override;
  bool wants_log() const override { return log_->wanted(); }

 private:
  struct Timer {
    int64_t at_ns;
    int fd;
    uint64_t serial;  // Of the connection, because its fd may be reused.
    bool operator>(const Timer& other) const { return at_ns > other.at_ns; }
  };
  struct Slot {
    std::unique_ptr<Connection> connection;
    uint64_t serial = 0;
  };

  void Listen(int fd, uint32_t events);
  void Accept(int listener);
  void AcceptOne(int fd, uint32_t asker, bool tls);
  void RunConnection(int fd, uint32_t events);
  void RunTimers();
  int TimeoutMs() const;

  const Listeners listeners_;
  Responder* const responder_;
  RequestLog* const log_;
  const int epoll_;
  const int wake_;
  int spare_;  // Closed to accept and refuse when descriptors run out.

  std::vector<Slot> slots_;  // By fd.
  uint64_t next_serial_ = 1;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<std::pair<int, uint64_t>> again_;

  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> connections_{0};
  std::atomic<uint64_t> requests_{0};
  std::atomic<uint64_t> bytes_{0};
  std::array<std::atomic<uint64_t>, static_cast<size_t>(Nasty::kCount)>
      by_kind_{};
  std::array<std::atomic<uint64_t>, 6> by_status_{};
};

}  // namespace gannet::fake_web
