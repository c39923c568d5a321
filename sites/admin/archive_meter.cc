#include "sites/admin/archive_meter.h"

#include <chrono>

#include "storage/archive/archive_name.h"
#include "storage/archive/disk.h"

namespace gannet::sites {
namespace {

namespace fs = std::filesystem;

// File systems note times no finer than a tick of the kernel, some of them no
// finer than two seconds.
constexpr std::chrono::seconds kClearlyPast(3);

}  // namespace

admin::ArchiveSize ArchiveMeter::Look() {
  storage::MutexLock lock(&mu_);
  std::error_code none;
  const fs::file_time_type changed = fs::last_write_time(folder_, none);
  if (none || walked_ == fs::file_time_type::min() || changed != walked_) {
    const bool all = Walk();
    const auto now = fs::file_time_type::clock::now();
    walked_ = all && !none && changed + kClearlyPast < now
                  ? changed
                  : fs::file_time_type::min();
  }
  admin::ArchiveSize size;
  size.set_files(finished_files_);
  size.set_bytes(finished_bytes_);
  for (const fs::path& file : being_written_) {
    const uint64_t bytes = fs::file_size(file, none);
    if (none) continue;  // Finished meanwhile.
    size.set_files(size.files() + 1);
    size.set_bytes(size.bytes() + bytes);
  }
  return size;
}

bool ArchiveMeter::Walk() {
  finished_files_ = 0;
  finished_bytes_ = 0;
  being_written_.clear();
  const auto files = storage::ListFolder(folder_);
  if (!files.ok()) return false;
  bool all = true;
  for (const fs::path& file : *files) {
    const auto name = storage::ParseArchiveName(file.filename().string());
    if (!name.has_value()) continue;
    if (name->kind == storage::ArchiveName::Kind::kOpen) {
      being_written_.push_back(file);
    } else if (name->kind == storage::ArchiveName::Kind::kFinished) {
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

}  // namespace gannet::sites
