#include "storage/crawl_db/data_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/cleanup/cleanup.h"

namespace gannet::storage {
namespace {

constexpr char kLockName[] = "IN_USE";
constexpr char kFormatName[] = "FORMAT";
constexpr char kFormatWord[] = "gannet-crawl-db";

absl::Status FromErrno(int error, const std::string& what) {
  const std::string message = fmt::format("{}: {}", what, strerror(error));
  return error == ENOSPC || error == EDQUOT
             ? absl::ResourceExhaustedError(message)
             : absl::FailedPreconditionError(message);
}

absl::Status CheckFormat(const std::string& folder) {
  std::ifstream in(folder + "/" + kFormatName);
  if (!in) {
    // RocksDB's CURRENT without our FORMAT: somebody else's database.
    if (std::filesystem::exists(folder + "/CURRENT")) {
      return absl::FailedPreconditionError(fmt::format(
          "{} holds a RocksDB database that is not Gannet's; choose "
          "another folder",
          folder));
    }
    return MarkFormat(folder);
  }
  std::string word;
  int format = 0;
  if (!(in >> word >> format) || word != kFormatWord || format < 1) {
    return absl::DataLossError(
        fmt::format("{}/{} is damaged; it should read '{} {}'", folder,
                    kFormatName, kFormatWord, kCrawlDbFormat));
  }
  if (format > kCrawlDbFormat) {
    return absl::FailedPreconditionError(fmt::format(
        "{} was written by a newer Gannet (format {}; this one knows up to "
        "{}); use that version. Nothing was changed",
        folder, format, kCrawlDbFormat));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MarkFormat(const std::string& folder) {
  const std::string path = folder + "/" + kFormatName;
  const std::string temporary = path + ".new";
  const int fd = open(temporary.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (fd < 0) return FromErrno(errno, "cannot write " + temporary);
  const std::string text = fmt::format("{} {}\n", kFormatWord, kCrawlDbFormat);
  const bool written = write(fd, text.data(), text.size()) ==
                           static_cast<ssize_t>(text.size()) &&
                       fsync(fd) == 0;
  const int error = errno;
  close(fd);
  if (!written) return FromErrno(error, "cannot write " + temporary);
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    return FromErrno(errno, "cannot write " + path);
  }
  return absl::OkStatus();
}

absl::StatusOr<DataFolder> DataFolder::Open(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return FromErrno(error.value(), "cannot make folder " + path);

  const std::string lock_path = path + "/" + kLockName;
  const int fd = open(lock_path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (fd < 0) return FromErrno(errno, "cannot open " + lock_path);
  absl::Cleanup closer = [fd] { close(fd); };
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    char pid[32] = "";
    const ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);
    return absl::AbortedError(
        fmt::format("{} is in use by another process (pid {}); wait for "
                    "it, or stop it, or use another data folder",
                    path, n > 0 ? std::string(pid, n) : "unknown"));
  }
  if (absl::Status status = CheckFormat(path); !status.ok()) return status;
  const std::string pid = std::to_string(getpid());
  if (ftruncate(fd, 0) != 0 || pwrite(fd, pid.data(), pid.size(), 0) !=
                                   static_cast<ssize_t>(pid.size())) {
    return FromErrno(errno, "cannot write " + lock_path);
  }
  std::move(closer).Cancel();
  return DataFolder(path, fd);
}

DataFolder::DataFolder(DataFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_fd_(other.lock_fd_) {
  other.lock_fd_ = -1;
}

DataFolder::~DataFolder() {
  if (lock_fd_ >= 0) close(lock_fd_);
}

}  // namespace gannet::storage
