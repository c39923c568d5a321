#include "sites/admin/agent_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gannet::sites {
namespace {

constexpr char kPrivateFolder[] = ".agent";

std::string InPrivate() {
  return fmt::format("{}/{}", kPrivateFolder, kAgentSocket);
}

}  // namespace

absl::StatusOr<AgentSocket> AgentSocket::In(const std::string& data_folder) {
  const std::string& name = data_folder.empty() ? "." : data_folder;
  const int folder = open(name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return absl::NotFoundError(
        fmt::format("no folder {}: {}", name, std::strerror(errno)));
  }
  return AgentSocket(name, folder);
}

AgentSocket::~AgentSocket() {
  if (folder_ >= 0) close(folder_);
}

std::string AgentSocket::path() const {
  return fmt::format("/proc/self/fd/{}/{}", folder_, kAgentSocket);
}

std::string AgentSocket::name() const {
  return fmt::format("{}/{}", data_folder_, kAgentSocket);
}

absl::StatusOr<std::string> AgentSocket::Prepare() const {
  if (absl::Status s = Remove(); !s.ok()) return s;
  (void)unlinkat(folder_, InPrivate().c_str(), 0);
  (void)unlinkat(folder_, kPrivateFolder, AT_REMOVEDIR);
  if (mkdirat(folder_, kPrivateFolder, 0700) != 0) {
    return absl::FailedPreconditionError(
        fmt::format("cannot make the folder {}/{}: {}", data_folder_,
                    kPrivateFolder, std::strerror(errno)));
  }
  return fmt::format("/proc/self/fd/{}/{}", folder_, InPrivate());
}

absl::Status AgentSocket::Publish() const {
  if (fchmodat(folder_, InPrivate().c_str(), 0600, 0) != 0) {
    return absl::InternalError(fmt::format("{} cannot be made private: {}",
                                           name(), std::strerror(errno)));
  }
  if (renameat(folder_, InPrivate().c_str(), folder_, kAgentSocket) != 0) {
    return absl::InternalError(
        fmt::format("cannot make {}: {}", name(), std::strerror(errno)));
  }
  (void)unlinkat(folder_, kPrivateFolder, AT_REMOVEDIR);
  return absl::OkStatus();
}

absl::Status AgentSocket::Knock() const {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string at = path();
  std::memcpy(address.sun_path, at.c_str(), at.size() + 1);
  // Does not wait: a full queue means that a process listens, if slowly.
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    return absl::UnavailableError(
        fmt::format("cannot make a socket: {}", std::strerror(errno)));
  }
  const bool connected =
      connect(fd, reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) == 0;
  const int error = errno;
  close(fd);
  if (connected || error == EAGAIN || error == EINPROGRESS) {
    return absl::OkStatus();
  }
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(
        fmt::format("{} belongs to another user; run this as the user that "
                    "runs the agent",
                    name()));
  }
  return absl::NotFoundError(
      fmt::format("nobody listens on {}: {}", name(), std::strerror(error)));
}

absl::Status AgentSocket::Remove() const {
  if (unlinkat(folder_, kAgentSocket, 0) == 0 || errno == ENOENT) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(fmt::format(
      "{} is in the way and cannot be removed: {}; remove it by hand", name(),
      std::strerror(errno)));
}

}  // namespace gannet::sites
