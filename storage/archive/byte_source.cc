#include "storage/archive/byte_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "storage/archive/disk.h"

namespace gannet::storage {
namespace {

class File final : public ByteSource {
 public:
  File(Fd fd, std::filesystem::path path, uint64_t end)
      : fd_(std::move(fd)), path_(std::move(path)), end_(end) {}

  absl::StatusOr<size_t> ReadAt(uint64_t offset, char* to,
                                size_t size) override {
    if (offset >= end_) return 0;
    size = static_cast<size_t>(std::min<uint64_t>(size, end_ - offset));
    for (;;) {
      const ssize_t n = pread(fd_.get(), to, size, static_cast<off_t>(offset));
      if (n >= 0) return static_cast<size_t>(n);
      if (errno != EINTR) return DiskError(errno, "read", path_);
    }
  }

 private:
  const Fd fd_;
  const std::filesystem::path path_;
  const uint64_t end_;
};

class Memory final : public ByteSource {
 public:
  explicit Memory(std::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<size_t> ReadAt(uint64_t offset, char* to,
                                size_t size) override {
    if (offset >= bytes_.size()) return 0;
    const std::string_view part = bytes_.substr(offset, size);
    std::memcpy(to, part.data(), part.size());
    return part.size();
  }

 private:
  const std::string_view bytes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> FileSource(
    const std::filesystem::path& path, uint64_t end) {
  auto fd = OpenFd(path, O_RDONLY);
  if (!fd.ok()) return fd.status();
  return std::make_unique<File>(*std::move(fd), path, end);
}

std::unique_ptr<ByteSource> MemorySource(std::string_view bytes) {
  return std::make_unique<Memory>(bytes);
}

}  // namespace gannet::storage
