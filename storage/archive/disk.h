// The few file-system calls that the archive needs, with errors translated at
// this edge: a full disk, and nothing else, is kResourceExhausted and says so
// (the command line exits with 3 on it); an I/O error is kDataLoss; what is
// missing is kNotFound. Never kUnavailable, which is for peers (exit code 4).
// Thread-safe: no state.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gannet::storage {

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd();

  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// `error` is an errno, `doing` a phrase such as "write".
absl::Status DiskError(int error, std::string_view doing,
                       const std::filesystem::path& path);

absl::StatusOr<Fd> OpenFd(const std::filesystem::path& path, int flags);

// Writes all of `bytes` at `offset`, or fails with some of them written.
absl::Status WriteAt(const Fd& fd, std::string_view bytes, uint64_t offset,
                     const std::filesystem::path& path);

absl::Status SyncData(const Fd& fd, const std::filesystem::path& path);

// Makes creations, renames and removals in `folder` last.
absl::Status SyncFolder(const std::filesystem::path& folder);

absl::Status Cut(const Fd& fd, uint64_t length,
                 const std::filesystem::path& path);

absl::StatusOr<uint64_t> FileSize(const Fd& fd,
                                  const std::filesystem::path& path);

absl::Status Rename(const std::filesystem::path& from,
                    const std::filesystem::path& to);

// What is in it, in no order. (A range-for over a directory_iterator throws
// where the disk fails.)
absl::StatusOr<std::vector<std::filesystem::path>> ListFolder(
    const std::filesystem::path& folder);

// A file that is already gone is no error.
absl::Status Remove(const std::filesystem::path& path);

// Copies and syncs; `to` must not exist.
absl::Status CopyFile(const std::filesystem::path& from,
                      const std::filesystem::path& to);

// Bytes that a process without privileges may still write.
absl::StatusOr<uint64_t> FreeSpace(const std::filesystem::path& folder);

}  // namespace gannet::storage
