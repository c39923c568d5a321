// ArchiveMeter says how many files the archive has, and how large they are,
// without walking through thousands of them at each look: finished files never
// change, and the folder's time tells when some came or went. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "storage/mutex.h"

namespace gannet::storage {

struct ArchiveSize {
  int64_t files = 0;
  uint64_t bytes = 0;
};

class ArchiveMeter {
 public:
  // `folder` may not exist (yet).
  explicit ArchiveMeter(std::filesystem::path folder)
      : folder_(std::move(folder)) {}

  ArchiveSize Measure() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // False if something could not be read.
  bool Walk() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::filesystem::path folder_;
  Mutex mu_;
  // When the folder had changed last before it was walked through; its minimum
  // if that was so short before that a later change could bear the same time.
  std::filesystem::file_time_type walked_ ABSL_GUARDED_BY(mu_) =
      std::filesystem::file_time_type::min();
  int64_t finished_files_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t finished_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<std::filesystem::path> being_written_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::storage
