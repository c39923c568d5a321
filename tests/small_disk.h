// Runs a test's body in a process of its own that sees a small disk: a tmpfs in
// a mount namespace, which ends with the process. Needs root or user
// namespaces.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>

namespace gannet {

struct SmallDiskResult {
  bool could_mount = true;
  std::string problem;  // What the body returned, or why there is no disk.
};

inline bool EnterMountNamespace() {
  if (unshare(CLONE_NEWNS) != 0) {
    const uid_t user = getuid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  }
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

// Runs `body` with an empty disk on `folder`; it returns what went wrong.
inline SmallDiskResult OnSmallDisk(size_t bytes, const std::string& folder,
                                   const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return {false, "no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::string size = "size=" + std::to_string(bytes);
    std::string answer;
    if (!EnterMountNamespace() ||
        mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) != 0) {
      answer = "-";
    } else {
      answer = "+" + body();
    }
    const ssize_t written = write(ends[1], answer.data(), answer.size());
    _exit(written == static_cast<ssize_t>(answer.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string answer;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    answer.append(buffer, n);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (answer.empty()) return {true, "the process crashed"};
  if (answer[0] == '-') {
    return {false, "no small disk: needs root or user namespaces"};
  }
  return {true, answer.substr(1)};
}

}  // namespace gannet
