#include "sites/agent/service_manager.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <utility>

namespace gannet::sites {
namespace {

std::optional<int64_t> Number(const char* text) {
  if (text == nullptr) return std::nullopt;
  const std::string_view digits = text;
  int64_t value = 0;
  const auto [at, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || at != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

ServiceManager::ServiceManager(std::string socket,
                               std::optional<absl::Duration> watchdog)
    : socket_(std::move(socket)),
      watchdog_(watchdog),
      fd_(socket_.empty() ? -1
                          : ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}

ServiceManager ServiceManager::FromEnvironment() {
  const char* socket = std::getenv("NOTIFY_SOCKET");
  const std::optional<int64_t> us = Number(std::getenv("WATCHDOG_USEC"));
  const std::optional<int64_t> pid = Number(std::getenv("WATCHDOG_PID"));
  std::optional<absl::Duration> watchdog;
  if (us.has_value() && *us > 0 && pid.value_or(getpid()) == getpid()) {
    watchdog = absl::Microseconds(*us);
  }
  return ServiceManager(socket == nullptr ? "" : socket, watchdog);
}

ServiceManager::~ServiceManager() {
  if (fd_ >= 0) close(fd_);
}

void ServiceManager::Ready() const { Send("READY=1"); }

void ServiceManager::Reloading() const {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  Send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                   int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000));
}

void ServiceManager::Stopping() const { Send("STOPPING=1"); }

void ServiceManager::Status(std::string_view text) const {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  Send("STATUS=" + line);
}

void ServiceManager::Alive() const { Send("WATCHDOG=1"); }

std::optional<absl::Duration> ServiceManager::alive_every() const {
  if (!watchdog_.has_value()) return std::nullopt;
  return *watchdog_ / 2;
}

void ServiceManager::Send(const std::string& lines) const {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (fd_ < 0 || socket_.size() >= sizeof(address.sun_path)) return;
  socket_.copy(address.sun_path, socket_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const socklen_t size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  // Does not wait; a failure cannot be reported anywhere.
  (void)sendto(fd_, lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace gannet::sites
