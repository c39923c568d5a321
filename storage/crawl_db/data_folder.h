// DataFolder guards the folder of one crawl DB before RocksDB touches it: only
// one process at a time, and never a format that this version does not know. A
// move-only value; the lock is held while it lives (and dies with the process).
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace gannet::storage {

// Rises when a row's layout or meaning changes so that older versions would
// misread it. New columns and protobuf fields do not need it.
inline constexpr int kCrawlDbFormat = 1;

class DataFolder {
 public:
  // Makes the folder if need be. kFailedPrecondition if another process has it
  // open (named by its pid) or if a newer version wrote it; nothing is changed
  // then.
  static absl::StatusOr<DataFolder> Open(const std::string& path);

  DataFolder(DataFolder&& other) noexcept;
  DataFolder& operator=(DataFolder&&) = delete;
  ~DataFolder();

  const std::string& path() const { return path_; }

 private:
  DataFolder(std::string path, int lock_fd)
      : path_(std::move(path)), lock_fd_(lock_fd) {}
  std::string path_;
  int lock_fd_;
};

// Says that a RocksDB database in `folder` is a crawl DB of this format.
absl::Status MarkFormat(const std::string& folder);

}  // namespace gannet::storage
