#include "storage/archive/archive_meter.h"

#include <chrono>

#include "storage/archive/archive_name.h"
#include "storage/archive/disk.h"

namespace gannet::storage {
namespace {

namespace fs = std::filesystem;

// File systems note times no finer than a tick of the kernel, some of them no
// finer than two seconds.
constexpr std::chrono::seconds kClearlyPast(3);

}  // namespace

ArchiveSize ArchiveMeter::Measure() {
  MutexLock lock(&mu_);
  std::error_code none;
  const fs::file_time_type changed = fs::last_write_time(folder_, none);
  if (none || walked_ == fs::file_time_type::min() || changed != walked_) {
    const bool all = Walk();
    const auto now = fs::file_time_type::clock::now();
    walked_ = all && !none && changed + kClearlyPast < now
                  ? changed
                  : fs::file_time_type::min();
  }
  ArchiveSize size{finished_files_, finished_bytes_};
  for (const fs::path& file : being_written_) {
    const uint64_t bytes = fs::file_size(file, none);
    if (none) continue;  // Finished meanwhile.
    ++size.files;
    size.bytes += bytes;
  }
  return size;
}

bool ArchiveMeter::Walk() {
  finished_files_ = 0;
  finished_bytes_ = 0;
  being_written_.clear();
  const auto files = ListFolder(folder_);
  if (!files.ok()) return false;
  bool all = true;
  for (const fs::path& file : *files) {
    const auto name = ParseArchiveName(file.filename().string());
    if (!name.has_value()) continue;
    if (name->kind == ArchiveName::Kind::kOpen) {
      being_written_.push_back(file);
    } else if (name->kind == ArchiveName::Kind::kFinished) {
      std::error_code none;
      const uint64_t bytes = fs::file_size(file, none);
      if (none) all = false;  // Released meanwhile, most likely.
      if (none) continue;
      ++finished_files_;
      finished_bytes_ += bytes;
    }
  }
  return all;
}

}  // namespace gannet::storage
