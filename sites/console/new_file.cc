#include "sites/console/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gannet::sites {
namespace {

absl::Status CannotWrite(const std::string& path, int error) {
  const std::string message =
      fmt::format("cannot write {}: {}", path, strerror(error));
  return error == ENOSPC || error == EDQUOT
             ? absl::ResourceExhaustedError(message)
             : absl::FailedPreconditionError(message);
}

}  // namespace

absl::Status WriteNewFile(const std::string& path, std::string_view text,
                          int mode) {
  const int fd =
      open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
  if (fd < 0 && errno == EEXIST) {
    return absl::AlreadyExistsError(
        fmt::format("{} exists already, and is left as it is", path));
  }
  const bool written = fd >= 0 &&
                       write(fd, text.data(), text.size()) ==
                           static_cast<ssize_t>(text.size()) &&
                       fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  if (written) return absl::OkStatus();
  if (fd >= 0) unlink(path.c_str());
  return CannotWrite(path, error);
}

absl::Status ReplaceFile(const std::string& path, std::string_view text,
                         int mode) {
  const std::string next = path + ".new";
  unlink(next.c_str());  // Left by one that was killed.
  if (absl::Status s = WriteNewFile(next, text, mode); !s.ok()) return s;
  if (rename(next.c_str(), path.c_str()) == 0) return absl::OkStatus();
  const int error = errno;
  unlink(next.c_str());
  return CannotWrite(path, error);
}

}  // namespace gannet::sites
