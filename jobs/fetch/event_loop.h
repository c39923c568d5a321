// EventLoop waits for the sockets of one thread: those of libcurl's handles and
// of the resolver. It has no timers: a caller that has a deadline passes the
// time until it to Run().
//
// It knows how late it is. A socket that becomes ready while callbacks run, or
// while the machine gives the thread no time, waits; a server must not be
// blamed for that. So there is ServedNow(), a clock that stands still while the
// loop is late: timeouts of servers are measured by it.
//
// Not thread-safe but for Wake().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/clock.h"

namespace gannet::jobs {

class EventLoop {
 public:
  // Gets epoll's events (EPOLLIN, ...).
  using Ready = std::function<void(uint32_t events)>;

  // `clock` must outlive it.
  static absl::StatusOr<std::unique_ptr<EventLoop>> Create(
      storage::Clock& clock);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls `ready` whenever one of `events` (level-triggered) is there. A second
  // call for the same fd replaces the first.
  void Watch(int fd, uint32_t events, Ready ready);
  // Changes only the events of a watched fd; false if it is not watched.
  // Cheaper than Watch(): a connection changes with every request.
  bool SetEvents(int fd, uint32_t events);
  // Before the fd is closed. Harmless if it was not watched.
  void Forget(int fd);

  // Waits once, at most so long, and calls what is ready. Callbacks may call
  // Watch and Forget.
  void Run(absl::Duration at_most);

  // How long a socket may have waited before the last Run() served it.
  absl::Duration lag() const { return lag_; }
  storage::Clock& clock() const { return clock_; }
  // The clock's SteadyNow() without the time that the loop was late.
  absl::Time ServedNow() const;
  // When ServedNow() reaches `served`, if the loop is not late again.
  absl::Time ToSteady(absl::Time served) const { return served + late_; }
  // The time that ServedNow() has left out so far.
  absl::Duration late() const { return late_; }
  // Whether all that was ready has been served. If not, a deadline may have
  // been kept without the loop knowing it yet.
  bool is_drained() const { return is_drained_; }

  // Ends a Run() that waits, or the next one. From any thread, and from a
  // signal handler.
  void Wake();

 private:
  EventLoop(int epoll_fd, int wake_fd, storage::Clock& clock);

  struct Watched {
    uint32_t events = 0;
    // Shared, because a callback may forget its own fd while it runs.
    std::shared_ptr<Ready> ready;
    // Tells a watch from a later one of the same fd, when an event of the
    // earlier is still to be handled.
    uint32_t generation = 0;
  };

  const int epoll_fd_;
  const int wake_fd_;
  storage::Clock& clock_;
  uint32_t generation_ = 0;
  // When epoll last said what is ready; what came later has waited since.
  absl::Time looked_at_ = absl::InfiniteFuture();
  absl::Duration lag_;
  absl::Duration late_;
  bool is_drained_ = true;
  size_t served_ = 0;  // In turns in a row that were full.
  absl::flat_hash_map<int, Watched> watched_;
};

}  // namespace gannet::jobs
