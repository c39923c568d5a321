#include "storage/archive/disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace gannet::storage {

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

absl::Status DiskError(int error, std::string_view doing,
                       const std::filesystem::path& path) {
  const std::string what = fmt::format("cannot {} {}: {}", doing, path.native(),
                                       std::strerror(error));
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return absl::ResourceExhaustedError("disk full: " + what);
    case EFBIG:
      return absl::FailedPreconditionError("file size limit reached: " + what);
    case EIO:
      return absl::DataLossError(what);
    case EBUSY:
      return absl::InternalError(what);
    default:
      break;
  }
  // Abseil calls many a shortage kResourceExhausted (descriptors, memory), and
  // EAGAIN kUnavailable: here they would be taken for a full disk and a peer.
  const absl::StatusCode code = absl::ErrnoToStatusCode(error);
  const bool misleads = code == absl::StatusCode::kResourceExhausted ||
                        code == absl::StatusCode::kUnavailable;
  return absl::Status(misleads ? absl::StatusCode::kInternal : code, what);
}

absl::StatusOr<Fd> OpenFd(const std::filesystem::path& path, int flags) {
  for (;;) {
    const int fd = open(path.c_str(), flags | O_CLOEXEC, 0644);
    if (fd >= 0) return Fd(fd);
    if (errno != EINTR) return DiskError(errno, "open", path);
  }
}

absl::Status WriteAt(const Fd& fd, std::string_view bytes, uint64_t offset,
                     const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd.get(), bytes.data(), bytes.size(),
                             static_cast<off_t>(offset));
    if (n < 0) {
      if (errno == EINTR) continue;
      return DiskError(errno, "write", path);
    }
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return absl::OkStatus();
}

absl::Status SyncData(const Fd& fd, const std::filesystem::path& path) {
  if (fdatasync(fd.get()) != 0) return DiskError(errno, "sync", path);
  return absl::OkStatus();
}

absl::Status SyncFolder(const std::filesystem::path& folder) {
  auto fd = OpenFd(folder, O_RDONLY | O_DIRECTORY);
  if (!fd.ok()) return fd.status();
  if (fsync(fd->get()) != 0) return DiskError(errno, "sync", folder);
  return absl::OkStatus();
}

absl::Status Cut(const Fd& fd, uint64_t length,
                 const std::filesystem::path& path) {
  while (ftruncate(fd.get(), static_cast<off_t>(length)) != 0) {
    if (errno != EINTR) return DiskError(errno, "cut", path);
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> FileSize(const Fd& fd,
                                  const std::filesystem::path& path) {
  struct stat st;
  if (fstat(fd.get(), &st) != 0) return DiskError(errno, "look at", path);
  return static_cast<uint64_t>(st.st_size);
}

absl::Status Rename(const std::filesystem::path& from,
                    const std::filesystem::path& to) {
  if (rename(from.c_str(), to.c_str()) != 0) {
    return DiskError(errno, "rename", from);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::filesystem::path>> ListFolder(
    const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end;
       !error && at != end; at.increment(error)) {
    found.push_back(at->path());
  }
  if (error) return DiskError(error.value(), "read", folder);
  return found;
}

absl::Status Remove(const std::filesystem::path& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return DiskError(errno, "remove", path);
  }
  return absl::OkStatus();
}

absl::Status CopyFile(const std::filesystem::path& from,
                      const std::filesystem::path& to) {
  auto in = OpenFd(from, O_RDONLY);
  if (!in.ok()) return in.status();
  auto out = OpenFd(to, O_WRONLY | O_CREAT | O_EXCL);
  if (!out.ok()) return out.status();
  constexpr size_t kChunk = 1 << 20;
  const auto buffer = std::make_unique<char[]>(kChunk);
  uint64_t offset = 0;
  for (;;) {
    const ssize_t n =
        pread(in->get(), buffer.get(), kChunk, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return DiskError(errno, "read", from);
    if (n == 0) return SyncData(*out, to);
    absl::Status written =
        WriteAt(*out, {buffer.get(), static_cast<size_t>(n)}, offset, to);
    if (!written.ok()) return written;
    offset += static_cast<uint64_t>(n);
  }
}

absl::StatusOr<uint64_t> FreeSpace(const std::filesystem::path& folder) {
  struct statvfs fs;
  if (statvfs(folder.c_str(), &fs) != 0) {
    return DiskError(errno, "look at", folder);
  }
  return static_cast<uint64_t>(fs.f_bavail) * fs.f_frsize;
}

}  // namespace gannet::storage
