// AgentSocket is where an agent and the commands of its site meet: a Unix
// socket in the data folder, for its owner only. It is named by way of an open
// folder, since the kernel takes no more than 107 bytes of a socket's path and
// data folders may be deep. A move-only value; the path is good while it lives.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gannet::sites {

inline constexpr char kAgentSocket[] = "agent.sock";

class AgentSocket {
 public:
  // kNotFound if there is no such folder.
  static absl::StatusOr<AgentSocket> In(const std::string& data_folder);

  AgentSocket(AgentSocket&& other) noexcept
      : data_folder_(std::move(other.data_folder_)),
        folder_(std::exchange(other.folder_, -1)) {}
  AgentSocket& operator=(AgentSocket&&) = delete;
  ~AgentSocket();

  // Short, and good in this process only.
  std::string path() const;
  // For people.
  std::string name() const;

  // For the agent: where to bind the socket, in a folder of its own that only
  // the owner can enter (a umask would apply to the whole process). Publish()
  // then makes the socket private and moves it to path(). Removes what a start
  // that was cut off left. REQUIRES: this process holds the data folder.
  absl::StatusOr<std::string> Prepare() const;
  absl::Status Publish() const;

  // OK if a process listens. kNotFound: none does; the socket is not there, or
  // was left by an agent that was killed. kPermissionDenied: it belongs to
  // another user.
  absl::Status Knock() const;

  // Removes a socket on which no process listens. REQUIRES: this process holds
  // the data folder.
  absl::Status Remove() const;

 private:
  AgentSocket(std::string data_folder, int folder)
      : data_folder_(std::move(data_folder)), folder_(folder) {}

  std::string data_folder_;
  int folder_;
};

}  // namespace gannet::sites
