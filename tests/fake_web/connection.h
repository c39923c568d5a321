// One connection of the server: reads requests, sends replies, one after the
// other, and never blocks. Sockets are edge-triggered: the connection remembers
// whether it may read or write, so that a request costs one recv and one send
// and no epoll_ctl.
//
//   reading --head complete--> waiting (latency) --> sending --> reading
//                                                      |-> lingering -> closed
//                                                      |-> stalled  -> closed
//
// Used by one thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tests/fake_web/http_request.h"
#include "tests/fake_web/request_log.h"
#include "tests/fake_web/responder.h"
#include "tests/fake_web/stream.h"

namespace gannet::fake_web {

int64_t MonotonicNs();

// What the connections of a worker share.
class ConnectionContext {
 public:
  virtual Responder* responder() = 0;
  // Called after each answer; the strings of `entry` are empty if no log is
  // wanted.
  virtual void Answered(LogEntry entry) = 0;
  virtual bool wants_log() const = 0;

 protected:
  ~ConnectionContext() = default;
};

class Connection {
 public:
  enum class Next {
    kWait,   // Wait for the socket.
    kTimer,  // Wait for timer_ns(), or the socket.
    kAgain,  // There is more to do, after other connections' turns.
    kClose,
  };

  // Takes over `fd`, whose bytes go through `stream`.
  Connection(int fd, std::unique_ptr<Stream> stream, uint32_t address,
             uint32_t asker, ConnectionContext* context);
  ~Connection();  // Logs what was not finished.
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // `epoll_events` are the socket's; 0 if called for a timer or after kAgain.
  Next Run(uint32_t epoll_events);
  int64_t timer_ns() const { return timer_ns_; }
  int fd() const { return fd_; }

 private:
  enum class State { kReading, kWaiting, kSending, kStalled, kLingering };
  enum class Step { kGoOn, kBlocked, kClose };

  Step Read();
  Step Send();
  // Parses what was read; starts a reply if a head is complete.
  Step TakeRequest();
  void StartReply();
  // Called after the last byte.
  Step FinishReply();
  void Log(LogEnd end);
  Next WhenBlocked() const;

  const int fd_;
  const std::unique_ptr<Stream> stream_;
  const bool tls_;
  const uint32_t address_;
  const uint32_t asker_;
  ConnectionContext* const context_;

  State state_ = State::kReading;
  bool readable_ = false;
  bool writable_ = true;
  bool peer_left_ = false;
  int64_t timer_ns_ = 0;  // 0: none.

  std::string in_;
  size_t request_size_ = 0;
  Request request_;  // Views into in_, valid until the reply is finished.
  Reply reply_;
  size_t sent_ = 0;
  uint64_t sent_in_all_ = 0;  // Bytes of this reply, with endless blocks.
  uint32_t drip_tick_ = 0;
  bool replying_ = false;
  int64_t arrival_ns_ = 0;
  int64_t last_send_ns_ = 0;
};

}  // namespace gannet::fake_web
