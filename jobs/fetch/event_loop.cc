#include "jobs/fetch/event_loop.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace gannet::jobs {
namespace {

// What a turn may take without being called late: a batch of answers does, and
// no server's timeout is so short.
constexpr absl::Duration kTolerated = absl::Milliseconds(20);

epoll_event EventFor(int fd, uint32_t generation, uint32_t events) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = uint64_t{generation} << 32 | static_cast<uint32_t>(fd);
  return event;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventLoop>> EventLoop::Create(
    storage::Clock& clock) {
  const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  const int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (epoll_fd < 0 || wake_fd < 0) {
    const int error = errno;
    if (epoll_fd >= 0) close(epoll_fd);
    if (wake_fd >= 0) close(wake_fd);
    return absl::UnavailableError(
        fmt::format("cannot make an event loop: {}; raise the limit of open "
                    "files (ulimit -n)",
                    std::strerror(error)));
  }
  epoll_event event = EventFor(wake_fd, 0, EPOLLIN);
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_fd, &event);
  return std::unique_ptr<EventLoop>(new EventLoop(epoll_fd, wake_fd, clock));
}

EventLoop::EventLoop(int epoll_fd, int wake_fd, storage::Clock& clock)
    : epoll_fd_(epoll_fd), wake_fd_(wake_fd), clock_(clock) {}

EventLoop::~EventLoop() {
  close(epoll_fd_);
  close(wake_fd_);
}

void EventLoop::Watch(int fd, uint32_t events, Ready ready) {
  Watched& watched = watched_[fd];
  const bool is_new = watched.ready == nullptr;
  if (is_new) watched.generation = ++generation_;
  watched.ready = std::make_shared<Ready>(std::move(ready));
  if (!is_new && watched.events == events) return;
  watched.events = events;
  epoll_event event = EventFor(fd, watched.generation, events);
  // A descriptor that was closed and opened again without Forget() is no longer
  // in epoll's set.
  if (is_new || epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, fd, &event) != 0) {
    epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event);
  }
}

bool EventLoop::SetEvents(int fd, uint32_t events) {
  const auto it = watched_.find(fd);
  if (it == watched_.end()) return false;
  if (it->second.events == events) return true;
  it->second.events = events;
  epoll_event event = EventFor(fd, it->second.generation, events);
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, fd, &event) != 0) {
    epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event);
  }
  return true;
}

void EventLoop::Forget(int fd) {
  if (watched_.erase(fd) > 0) {
    epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
  }
}

void EventLoop::Run(absl::Duration at_most) {
  std::array<epoll_event, 256> events;
  // Rounded up: a deadline half a millisecond away must not make a busy loop.
  const int64_t wait = std::clamp<int64_t>(
      absl::ToInt64Milliseconds(at_most + absl::Microseconds(999)), 0, 60'000);
  const absl::Time before = clock_.SteadyNow();
  const int count = epoll_wait(epoll_fd_, events.data(), events.size(),
                               static_cast<int>(wait));
  const absl::Time after = clock_.SteadyNow();
  // The time of the callbacks, and how much longer epoll slept than asked: the
  // machine gave this thread no CPU time.
  lag_ =
      std::max(before - looked_at_, absl::ZeroDuration()) +
      std::max(after - before - absl::Milliseconds(wait), absl::ZeroDuration());
  late_ += std::max(lag_ - kTolerated, absl::ZeroDuration());
  looked_at_ = after;
  // epoll serves ready sockets in turn: once as many were served as are
  // watched, each that was ready has been served.
  const bool is_full = count == static_cast<int>(events.size());
  served_ = is_full ? served_ + events.size() : 0;
  is_drained_ = !is_full || served_ >= watched_.size();
  if (is_drained_) served_ = 0;
  for (int i = 0; i < count; ++i) {
    const int fd = static_cast<int>(events[i].data.u64 & 0xffffffff);
    const auto generation = static_cast<uint32_t>(events[i].data.u64 >> 32);
    if (fd == wake_fd_) {
      uint64_t ignored;
      while (read(wake_fd_, &ignored, sizeof ignored) > 0) {
      }
      continue;
    }
    const auto it = watched_.find(fd);
    if (it == watched_.end() || it->second.generation != generation) continue;
    const std::shared_ptr<Ready> ready = it->second.ready;
    (*ready)(events[i].events);
  }
}

absl::Time EventLoop::ServedNow() const {
  const absl::Time now = clock_.SteadyNow();
  // This turn may be late already.
  const absl::Duration busy = now - looked_at_;
  return now - late_ - std::max(busy - kTolerated, absl::ZeroDuration());
}

void EventLoop::Wake() {
  const uint64_t one = 1;
  // Fails only if the counter is full, and then the loop is awake anyway.
  [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof one);
}

}  // namespace gannet::jobs
