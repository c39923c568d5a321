#include "tests/fake_web/worker.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gannet::fake_web {
namespace {

bool IsLoopback(uint32_t address) { return address >> 24 == 127; }

int OpenSpare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

Worker::Worker(Listeners listeners, Responder* responder, RequestLog* log)
    : listeners_(listeners),
      responder_(responder),
      log_(log),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      spare_(OpenSpare()) {
  // Exclusive: a new connection wakes one worker, not all.
  Listen(listeners_.listener, EPOLLIN | EPOLLEXCLUSIVE);
  if (listeners_.tls != nullptr) {
    Listen(listeners_.tls_listener, EPOLLIN | EPOLLEXCLUSIVE);
  }
  Listen(wake_, EPOLLIN);
}

void Worker::Listen(int fd, uint32_t events) {
  epoll_event event = {.events = events, .data = {.fd = fd}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
}

Worker::~Worker() {
  close(epoll_);
  close(wake_);
  if (spare_ >= 0) close(spare_);
}

void Worker::Stop() {
  stop_.store(true);
  const uint64_t one = 1;
  if (write(wake_, &one, sizeof(one)) < 0) return;  // Already woken.
}

void Worker::Run() {
  std::array<epoll_event, 256> events;
  while (!stop_.load(std::memory_order_relaxed)) {
    const int n = epoll_wait(epoll_, events.data(), events.size(), TimeoutMs());
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == listeners_.listener || fd == listeners_.tls_listener) {
        Accept(fd);
      } else if (fd != wake_) {
        RunConnection(fd, events[static_cast<size_t>(i)].events);
      }
    }
    RunTimers();
    std::vector<std::pair<int, uint64_t>> again;
    again.swap(again_);
    for (const auto& [fd, serial] : again) {
      if (slots_[static_cast<size_t>(fd)].serial == serial) {
        RunConnection(fd, 0);
      }
    }
  }
  slots_.clear();
}

int Worker::TimeoutMs() const {
  if (!again_.empty()) return 0;
  if (timers_.empty()) return -1;
  const int64_t ns = timers_.top().at_ns - MonotonicNs();
  // Rounded up, because after waking early it would only wait again.
  return static_cast<int>(
      std::clamp<int64_t>((ns + 999'999) / 1'000'000, 0, 60'000));
}

void Worker::Accept(int listener) {
  // A few at a time, so that a flood of connections does not starve the rest.
  for (int i = 0; i < 16; ++i) {
    sockaddr_in peer = {};
    socklen_t size = sizeof(peer);
    const int fd = accept4(listener, reinterpret_cast<sockaddr*>(&peer), &size,
                           SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      AcceptOne(fd, ntohl(peer.sin_addr.s_addr),
                listener == listeners_.tls_listener);
    } else if ((errno == EMFILE || errno == ENFILE) && spare_ >= 0) {
      // Refuses the connection, or the listener would stay ready for ever.
      close(spare_);
      const int refused = accept(listener, nullptr, nullptr);
      if (refused >= 0) close(refused);
      spare_ = OpenSpare();
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

void Worker::AcceptOne(int fd, uint32_t asker, bool tls) {
  sockaddr_in here = {};
  socklen_t size = sizeof(here);
  getsockname(fd, reinterpret_cast<sockaddr*>(&here), &size);
  const uint32_t address = ntohl(here.sin_addr.s_addr);
  if (!IsLoopback(address)) {
    close(fd);
    return;
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const auto index = static_cast<size_t>(fd);
  if (slots_.size() <= index) slots_.resize(index + 64);
  slots_[index].connection = std::make_unique<Connection>(
      fd, tls ? listeners_.tls->Accept(fd) : std::make_unique<PlainStream>(fd),
      address, asker, this);
  slots_[index].serial = next_serial_++;
  connections_.fetch_add(1, std::memory_order_relaxed);
  epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                       .data = {.fd = fd}};
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) {
    slots_[index] = Slot();
  }
}

void Worker::RunConnection(int fd, uint32_t events) {
  Slot& slot = slots_[static_cast<size_t>(fd)];
  if (slot.connection == nullptr) return;
  const int64_t timer_before = slot.connection->timer_ns();
  switch (slot.connection->Run(events)) {
    case Connection::Next::kWait:
      break;
    case Connection::Next::kTimer:
      if (slot.connection->timer_ns() != timer_before) {
        timers_.push({slot.connection->timer_ns(), fd, slot.serial});
      }
      break;
    case Connection::Next::kAgain:
      again_.emplace_back(fd, slot.serial);
      break;
    case Connection::Next::kClose:
      slot = Slot();
      break;
  }
}

void Worker::RunTimers() {
  if (timers_.empty()) return;
  const int64_t now = MonotonicNs();
  while (!timers_.empty() && timers_.top().at_ns <= now) {
    const Timer timer = timers_.top();
    timers_.pop();
    if (slots_[static_cast<size_t>(timer.fd)].serial == timer.serial) {
      RunConnection(timer.fd, 0);
    }
  }
}

void Worker::Answered(LogEntry entry) {
  requests_.fetch_add(1, std::memory_order_relaxed);
  bytes_.fetch_add(entry.bytes, std::memory_order_relaxed);
  by_kind_[static_cast<size_t>(entry.kind)].fetch_add(
      1, std::memory_order_relaxed);
  by_status_[static_cast<size_t>(entry.status / 100)].fetch_add(
      1, std::memory_order_relaxed);
  log_->Add(std::move(entry));
}

void Worker::AddTo(Served* served) const {
  served->connections += connections_.load();
  served->requests += requests_.load();
  served->bytes += bytes_.load();
  served->by_kind.resize(by_kind_.size());
  for (size_t i = 0; i < by_kind_.size(); ++i) {
    served->by_kind[i] += by_kind_[i].load();
  }
  served->by_status.resize(by_status_.size());
  for (size_t i = 0; i < by_status_.size(); ++i) {
    served->by_status[i] += by_status_[i].load();
  }
}

}  // namespace gannet::fake_web
