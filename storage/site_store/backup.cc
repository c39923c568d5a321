// A copy of a site taken while it crawls, and a site made from one.
//
// The crawl DB's checkpoint knows how long each archive file was; no group
// commit may come between the two, so they are taken under its lock. After
// that the archive's files can be copied at leisure: a finished file never
// changes, and of one that is (or was then) being written the copy takes the
// bytes that the checkpoint knows, as an `.open` file. So the copy is what a
// kill at that moment would have left, and opens the same way.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "absl/cleanup/cleanup.h"
#include "storage/archive/archive_name.h"
#include "storage/archive/disk.h"
#include "storage/site_store/site_store.h"

namespace gannet::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial";
// Lies in the new folder until the backup is complete: tells a backup that was
// cut off, which may be deleted, from another folder of that name.
constexpr char kUnfinished[] = ".unfinished-gannet-backup";
// In the data folder, while a backup is taken.
constexpr char kCheckpoint[] = ".checkpoint";
// In the new site's folder, while a backup is restored.
constexpr char kRestoring[] = ".restoring";
constexpr char kSiteFile[] = "site.yaml";
constexpr char kCrawlDb[] = "crawl_db";

absl::Status MakeFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return DiskError(error.value(), "make the folder", folder);
  return absl::OkStatus();
}

// "backup/" is "backup".
std::string WithoutSlash(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

// What is there is never written over.
absl::Status CheckIsNew(const std::string& folder) {
  if (folder.empty()) return absl::InvalidArgumentError("name a folder");
  std::error_code none;
  if (fs::exists(folder, none)) {
    return absl::InvalidArgumentError(
        fmt::format("{} exists already; name a folder that does not", folder));
  }
  return absl::OkStatus();
}

// The beginning of a file, and the copy on the disk.
absl::Status CopyFront(const fs::path& from, const fs::path& to,
                       uint64_t length) {
  absl::StatusOr<Fd> in = OpenFd(from, O_RDONLY);
  if (!in.ok()) return in.status();
  absl::StatusOr<Fd> out = OpenFd(to, O_CREAT | O_EXCL | O_WRONLY);
  if (!out.ok()) return out.status();
  std::string piece(1 << 20, '\0');
  for (uint64_t at = 0; at < length;) {
    const ssize_t n = pread(in->get(), piece.data(),
                            std::min<uint64_t>(piece.size(), length - at),
                            static_cast<off_t>(at));
    if (n < 0) return DiskError(errno, "read", from);
    if (n == 0) {
      return absl::DataLossError(
          fmt::format("{} is shorter than the crawl DB says", from.string()));
    }
    if (absl::Status s = WriteAt(
            *out, std::string_view(piece).substr(0, static_cast<size_t>(n)), at,
            to);
        !s.ok()) {
      return s;
    }
    at += static_cast<uint64_t>(n);
  }
  return SyncData(*out, to);
}

// Linked where that is possible: the file never changes. On another disk it is
// copied. A copy that failed is none.
absl::Status LinkOrCopy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (!error) return absl::OkStatus();
  const absl::Status copied = CopyFile(from, to);
  if (!copied.ok()) fs::remove(to, error);
  return copied;
}

// Of RocksDB's files only tables never change.
absl::Status LinkOrCopyDb(const fs::path& from, const fs::path& to) {
  return from.extension() == ".sst" ? LinkOrCopy(from, to) : CopyFile(from, to);
}

// A file that the checkpoint knows: its bytes until then. Index and marker
// count only if the file itself was released; otherwise they came later.
absl::Status CopyKnown(const fs::path& file, const ArchiveName& name,
                       const fs::path& to, uint64_t length) {
  using Kind = ArchiveName::Kind;
  const fs::path open =
      fmt::format("{}{}{}", name.base, kWarcSuffix, kOpenSuffix);
  std::error_code none;
  if (name.kind == Kind::kOpen || name.kind == Kind::kFinished) {
    if (fs::exists(to / open, none)) return absl::OkStatus();
    const absl::Status copied = CopyFront(file, to / open, length);
    if (!copied.ok()) fs::remove(to / open, none);
    return copied;
  }
  const fs::path finished = fmt::format("{}{}", name.base, kWarcSuffix);
  const fs::path from = file.parent_path();
  if (fs::exists(from / open, none) || fs::exists(from / finished, none) ||
      fs::exists(to / open, none) || fs::exists(to / file.filename(), none)) {
    return absl::OkStatus();
  }
  return LinkOrCopy(file, to / file.filename());
}

absl::Status CopyArchive(const fs::path& from, const fs::path& to,
                         const proto::ArchiveState& state) {
  std::map<FileNumber, uint64_t> lengths;
  FileNumber newest{};
  for (const proto::OpenArchiveFile& file : state.open()) {
    lengths[FileNumber{file.number()}] = file.length();
    newest = std::max(newest, FileNumber{file.number()});
  }
  const auto files = ListFolder(from);
  if (!files.ok()) return files.status();
  for (const fs::path& file : *files) {
    const std::string filename = file.filename().string();
    const auto name = ParseArchiveName(filename);
    if (!name.has_value() || state.open_size() == 0 || name->number > newest) {
      continue;
    }
    if (name->kind == ArchiveName::Kind::kTemporary) continue;
    std::error_code none;
    absl::Status copied;
    if (const auto known = lengths.find(name->number); known != lengths.end()) {
      copied = CopyKnown(file, *name, to, known->second);
    } else if (!fs::exists(to / filename, none)) {
      copied = LinkOrCopy(file, to / filename);
    }
    if (!copied.ok() && fs::exists(file, none)) return copied;
    // Otherwise it was finished or released meanwhile, and is looked for below.
  }
  return absl::OkStatus();
}

// A file that was renamed during the first walk is found by the second.
absl::Status CopyWholeArchive(const fs::path& from, const fs::path& to,
                              const proto::ArchiveState& state) {
  if (absl::Status s = MakeFolder(to); !s.ok()) return s;
  std::error_code none;
  if (!fs::exists(from, none)) return absl::OkStatus();
  for (int walk = 0; walk < 2; ++walk) {
    if (absl::Status s = CopyArchive(from, to, state); !s.ok()) return s;
  }
  return SyncFolder(to);
}

void AddSizeOf(const fs::path& folder, BackupSize& size) {
  const auto files = ListFolder(folder);
  if (!files.ok()) return;  // A number for people; the copy is done.
  for (const fs::path& file : *files) {
    std::error_code none;
    if (fs::is_directory(file, none)) {
      AddSizeOf(file, size);
    } else if (file.filename() != kUnfinished) {
      ++size.files;
      size.bytes += fs::file_size(file, none);
    }
  }
}

using CopyOne = absl::Status (*)(const fs::path& from, const fs::path& to);

absl::Status CopyTree(const fs::path& from, const fs::path& to,
                      CopyOne copy_one) {
  if (absl::Status s = MakeFolder(to); !s.ok()) return s;
  const auto files = ListFolder(from);
  if (!files.ok()) return files.status();
  for (const fs::path& file : *files) {
    const fs::path target = to / file.filename();
    std::error_code none;
    const absl::Status copied = fs::is_directory(file, none)
                                    ? CopyTree(file, target, copy_one)
                                    : copy_one(file, target);
    if (!copied.ok()) return copied;
  }
  return SyncFolder(to);
}

// The marker is removed last: if this is cut off, the folder is still known as
// ours.
void RemovePartial(const fs::path& partial) {
  std::error_code ignored;
  if (const auto files = ListFolder(partial); files.ok()) {
    for (const fs::path& file : *files) {
      if (file.filename() != kUnfinished) fs::remove_all(file, ignored);
    }
  }
  fs::remove_all(partial, ignored);
}

// Makes the folder anew, marked as unfinished.
absl::Status MakePartial(const fs::path& partial) {
  std::error_code error;
  if (fs::exists(partial, error) && !fs::is_empty(partial, error)) {
    if (!fs::exists(partial / kUnfinished, error)) {
      return absl::InvalidArgumentError(
          fmt::format("{} is in the way, and is not an unfinished backup; move "
                      "it, or name another folder",
                      partial.string()));
    }
    RemovePartial(partial);
  }
  if (absl::Status s = MakeFolder(partial); !s.ok()) return s;
  return OpenFd(partial / kUnfinished, O_CREAT | O_WRONLY).status();
}

absl::Status Appear(const std::string& partial, const std::string& to) {
  if (absl::Status s = SyncFolder(partial); !s.ok()) return s;
  if (absl::Status s = Rename(partial, to); !s.ok()) return s;
  if (absl::Status s = Remove(fs::path(to) / kUnfinished); !s.ok()) return s;
  const fs::path parent = fs::absolute(to).parent_path();
  return SyncFolder(parent);
}

}  // namespace

absl::StatusOr<BackupSize> SiteStore::BackUp(const std::string& folder) {
  const std::string to = WithoutSlash(folder);
  if (absl::Status s = CheckIsNew(to); !s.ok()) return s;
  const std::string partial = to + std::string(kPartial);
  if (absl::Status s = MakePartial(partial); !s.ok()) return s;
  bool done = false;
  const auto remove = absl::MakeCleanup([&] {
    if (!done) RemovePartial(partial);
  });
  std::error_code ignored;
  // On the site's own disk, where it takes a moment: no page can be completed
  // meanwhile. To another disk it is copied after that.
  const std::string checkpoint = folder_ + "/" + kCheckpoint;
  fs::remove_all(checkpoint, ignored);
  const auto remove_checkpoint =
      absl::MakeCleanup([&] { fs::remove_all(checkpoint, ignored); });
  absl::StatusOr<proto::ArchiveState> state = proto::ArchiveState();
  {
    MutexLock lock(&complete_mu_);
    if (absl::Status broken = Broken(); !broken.ok()) return broken;
    state = crawl_db_->records().archive_state();
    if (!state.ok()) return state.status();
    if (absl::Status s = crawl_db_->Checkpoint(checkpoint); !s.ok()) return s;
  }
  if (absl::Status s =
          CopyTree(checkpoint, fs::path(partial) / kCrawlDb, LinkOrCopyDb);
      !s.ok()) {
    return s;
  }
  if (absl::Status s =
          CopyWholeArchive(folder_ + "/archive", partial + "/archive", *state);
      !s.ok()) {
    return s;
  }
  // A link to a file elsewhere is no part of the site.
  const fs::path config = fs::path(folder_) / kSiteFile;
  if (fs::is_regular_file(fs::symlink_status(config, ignored))) {
    absl::Status s = CopyFile(config, fs::path(partial) / kSiteFile);
    if (!s.ok()) return s;
  }
  BackupSize size;
  AddSizeOf(partial, size);
  if (absl::Status s = Appear(partial, to); !s.ok()) return s;
  done = true;
  return size;
}

// Built inside the new folder, whose parent may be somebody else's. The crawl
// DB is moved to its place last: until then there is no site, and kRestoring
// marks what a cut-off restore left, which is made anew. If there is a crawl DB
// beside kRestoring, the site is complete, and only kRestoring was not removed
// yet.
absl::Status RestoreBackup(const std::string& backup,
                           const std::string& folder) {
  std::error_code none;
  if (!fs::exists(fs::path(backup) / kCrawlDb / "CURRENT", none)) {
    return absl::InvalidArgumentError(fmt::format(
        "{} is not a backup of a site: it has no crawl_db", backup));
  }
  const fs::path to = WithoutSlash(folder);
  const fs::path work = to / kRestoring;
  if (fs::exists(work, none)) {
    if (fs::exists(to / kCrawlDb, none)) {
      fs::remove_all(work, none);
      return absl::InvalidArgumentError(
          fmt::format("{} holds a site: an earlier restore into it was "
                      "finished. Use it, or name a folder that is new or empty",
                      to.string()));
    }
    fs::remove_all(work, none);
    for (const char* name : {"archive", kSiteFile}) {
      fs::remove_all(to / name, none);
    }
  }
  if (fs::exists(to, none) && !fs::is_empty(to, none)) {
    return absl::InvalidArgumentError(
        fmt::format("{} exists already and is not empty; name a folder that "
                    "is new or empty",
                    to.string()));
  }
  if (absl::Status s = CopyTree(backup, work, CopyFile); !s.ok()) {
    fs::remove_all(work, none);
    return s;
  }
  {
    // That it opens is a check of the copy, too.
    SiteStoreSettings settings;
    settings.folder = work.string();
    auto store = SiteStore::Open(settings, SystemClock());
    if (!store.ok()) {
      fs::remove_all(work, none);
      return store.status();
    }
    if (absl::Status s = (*store)->crawl_db().incoming().Reincarnate(); !s.ok())
      return s;
  }
  for (const char* name : {"archive", kSiteFile}) {
    if (!fs::exists(work / name, none)) continue;
    if (absl::Status s = Rename(work / name, to / name); !s.ok()) return s;
  }
  // After a power cut, too, there is no crawl DB without the rest.
  if (absl::Status s = SyncFolder(to); !s.ok()) return s;
  if (absl::Status s = Rename(work / kCrawlDb, to / kCrawlDb); !s.ok()) {
    return s;
  }
  fs::remove_all(work, none);
  return SyncFolder(to);
}

}  // namespace gannet::storage
