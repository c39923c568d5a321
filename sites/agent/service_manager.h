// ServiceManager tells systemd how the agent does (sd_notify(3), by hand: a
// datagram of lines to the socket that NOTIFY_SOCKET names): when it is ready,
// what it does, and that it lives. Without systemd it says nothing.
// Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace gannet::sites {

class ServiceManager {
 public:
  // `socket` is NOTIFY_SOCKET (a path, or '@' and an abstract name), `watchdog`
  // the time of WATCHDOG_USEC; empty and nothing without systemd.
  ServiceManager(std::string socket, std::optional<absl::Duration> watchdog);
  // By the environment. A watchdog that is meant for another process
  // (WATCHDOG_PID) is none.
  static ServiceManager FromEnvironment();

  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;
  ~ServiceManager();

  void Ready() const;
  // Ready() ends it.
  void Reloading() const;
  void Stopping() const;
  // One line for `systemctl status`.
  void Status(std::string_view text) const;
  void Alive() const;
  // How often Alive() is to be said: half of what systemd allows, as it asks.
  // Nothing: no watchdog.
  std::optional<absl::Duration> alive_every() const;

 private:
  void Send(const std::string& lines) const;

  const std::string socket_;
  const std::optional<absl::Duration> watchdog_;
  const int fd_;
};

}  // namespace gannet::sites
