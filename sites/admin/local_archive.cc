// LocalAdmin's verbs about archive files, and the backup.
#include <fmt/format.h>
#include <limits.h>

#include <filesystem>
#include <utility>

#include "sites/admin/local_admin.h"
#include "sites/admin/utf8.h"
#include "storage/site_store/site_store.h"

namespace gannet::sites {
namespace {

// No file has a longer path, and splitting one of millions of folders would
// take a gigabyte; a zero byte would end a path early.
absl::Status CheckPath(const char* flag, const std::string& path) {
  if (path.size() >= PATH_MAX) {
    return absl::InvalidArgumentError(
        fmt::format("{}: a path of {} bytes; {} are the most", flag,
                    path.size(), PATH_MAX - 1));
  }
  if (path.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(
        fmt::format("{}: a path with a zero byte", flag));
  }
  return absl::OkStatus();
}

// By its name, by a path to it, or by its number.
absl::StatusOr<storage::FinishedFile> Find(storage::Archive& archive,
                                           const std::string& file) {
  auto files = archive.List();
  if (!files.ok()) return files.status();
  const std::string name = std::filesystem::path(file).filename().string();
  for (const storage::FinishedFile& known : *files) {
    if (known.name == name ||
        std::to_string(static_cast<uint32_t>(known.number)) == file) {
      return known;
    }
  }
  return absl::NotFoundError(
      fmt::format("there is no finished archive file {}; 'gannet archive list' "
                  "shows them (one that is being written ends in .open, and "
                  "'gannet archive finish' ends it)",
                  file));
}

}  // namespace

absl::Status LocalAdmin::ListArchive(const admin::ListArchiveRequest&,
                                     admin::ArchiveFiles& reply) {
  const auto files = store_.archive().List();
  if (!files.ok()) return files.status();
  for (const storage::FinishedFile& file : *files) {
    admin::ArchiveFile& row = *reply.add_files();
    row.set_number(static_cast<uint32_t>(file.number));
    row.set_file(file.name);
    row.set_bytes(file.size);
    row.set_captures(file.captures);
    row.set_first(Utf8(file.first_date));
    row.set_last(Utf8(file.last_date));
    row.set_released(file.released);
  }
  return absl::OkStatus();
}

absl::Status LocalAdmin::FinishArchiveFile(
    const admin::FinishArchiveFileRequest&,
    admin::FinishedArchiveFiles& reply) {
  const auto before = store_.archive().List();
  if (!before.ok()) return before.status();
  if (absl::Status s = store_.FinishArchiveFile(); !s.ok()) return s;
  const auto after = store_.archive().List();
  if (!after.ok()) return after.status();
  // Numbers only grow: what is new is at the end.
  for (size_t i = before->size(); i < after->size(); ++i) {
    reply.add_finished((*after)[i].name);
  }
  return absl::OkStatus();
}

absl::Status LocalAdmin::ReleaseArchiveFile(
    const admin::ReleaseArchiveFileRequest& request,
    admin::ReleasedArchiveFile& reply) {
  for (const auto& [flag, path] :
       {std::pair("FILE", &request.file()), std::pair("--to", &request.to())}) {
    if (absl::Status s = CheckPath(flag, *path); !s.ok()) return s;
  }
  std::error_code none;
  if (!request.to().empty() &&
      !std::filesystem::is_directory(request.to(), none)) {
    return absl::InvalidArgumentError(
        fmt::format("--to: {} is not a folder", request.to()));
  }
  const auto file = Find(store_.archive(), request.file());
  if (!file.ok()) return file.status();
  if (file->released) {
    return absl::FailedPreconditionError(
        fmt::format("{} was released before", file->name));
  }
  if (absl::Status s = store_.archive().Release(file->number, request.to());
      !s.ok()) {
    return s;
  }
  reply.set_released(file->name);
  reply.set_to(request.to());
  return absl::OkStatus();
}

absl::Status LocalAdmin::Backup(const admin::BackupRequest& request,
                                admin::BackupDone& reply) {
  if (absl::Status s = CheckPath("--to", request.to()); !s.ok()) return s;
  const absl::Time started = clock_.SteadyNow();
  storage::MutexLock lock(&backup_mu_);
  const auto copied = store_.BackUp(request.to());
  if (!copied.ok()) return copied.status();
  reply.set_to(request.to());
  reply.set_bytes(copied->bytes);
  reply.set_files(copied->files);
  reply.set_seconds(absl::ToDoubleSeconds(clock_.SteadyNow() - started));
  return absl::OkStatus();
}

}  // namespace gannet::sites
