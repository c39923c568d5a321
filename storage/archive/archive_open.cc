// Archive::Open(): recovers the folder from a crash to the state that the crawl
// DB has. It checks everything first, and changes nothing unless the whole
// folder is consistent.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "storage/archive/archive.h"
#include "storage/archive/cdxj.h"

namespace gannet::storage {

// The files of one number in the folder.
struct Archive::FileOnDisk {
  std::string base;
  bool open = false;
  bool finished = false;
  bool cdxj = false;
  bool released = false;
  uint64_t size = 0;  // Of the WARC file.
};

namespace {

absl::Status Strange(std::string_view what) {
  return absl::FailedPreconditionError(
      fmt::format("the archive and the crawl DB do not belong together: {}. Is "
                  "the DB an old backup, or the folder another site's? Nothing "
                  "was changed; move what is not wanted out of the folder",
                  what));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Archive>> Archive::Open(
    std::filesystem::path folder, ArchiveSettings settings,
    const ArchiveState& committed, Clock& clock) {
  absl::Status names = CheckNameParts(settings.prefix, settings.site);
  if (!names.ok()) return names;
  if (settings.file_size == 0 || settings.level < 1 || settings.level > 12) {
    return absl::InvalidArgumentError(
        "archive: the file size must be positive and the level 1 to 12");
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return DiskError(error.value(), "make the folder", folder);
  // Not make_unique: the constructor is private.
  std::unique_ptr<Archive> archive(
      new Archive(std::move(folder), std::move(settings), clock));
  if (absl::Status recovered = archive->Recover(committed); !recovered.ok()) {
    return recovered;
  }
  // Files that were full at the crash. If this fails (a full disk), they stay
  // .open and the next Committed() tries again.
  archive->Committed(committed).IgnoreError();
  return archive;
}

absl::StatusOr<std::map<FileNumber, Archive::FileOnDisk>> Archive::Scan(
    std::vector<std::filesystem::path>* temporary) const {
  std::map<FileNumber, FileOnDisk> found;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder_, error), end;
       !error && it != end; it.increment(error)) {
    const auto name = ParseArchiveName(it->path().filename().native());
    if (!name.has_value()) continue;
    if (name->kind == ArchiveName::Kind::kTemporary) {
      temporary->push_back(it->path());
      continue;
    }
    FileOnDisk& file = found[name->number];
    if (!file.base.empty() && file.base != name->base) {
      return Strange(
          fmt::format("{} and {} have the same number", file.base, name->base));
    }
    file.base = name->base;
    switch (name->kind) {
      case ArchiveName::Kind::kOpen:
        file.open = true;
        break;
      case ArchiveName::Kind::kFinished:
        file.finished = true;
        break;
      case ArchiveName::Kind::kCdxj:
        file.cdxj = true;
        continue;
      default:
        file.released = true;
        continue;
    }
    file.size = it->file_size(error);
  }
  if (error) return DiskError(error.value(), "read the folder", folder_);
  return found;
}

absl::Status Archive::CheckAgainst(
    const ArchiveState& committed,
    const std::map<FileNumber, FileOnDisk>& found) const {
  for (const auto& [number, file] : found) {
    const bool newer =
        committed.files.empty() || number > committed.files.back().number;
    const bool known =
        std::any_of(committed.files.begin(), committed.files.end(),
                    [n = number](const auto& f) { return f.number == n; });
    if (file.open && file.finished) {
      return Strange(file.base + " is there twice, open and finished");
    }
    // A crash can leave newer files only as .open: see Committed().
    if (newer && (file.finished || file.released)) {
      return Strange(file.base + " is newer than all that the DB knows");
    }
    if (!newer && file.open && !known) {
      return Strange(file.base + " is open, and the DB does not know it");
    }
  }
  for (const auto& known : committed.files) {
    if (absl::Status s = CheckKnown(known, found); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status Archive::CheckKnown(
    const ArchiveState::File& known,
    const std::map<FileNumber, FileOnDisk>& found) const {
  const auto it = found.find(known.number);
  const bool there =
      it != found.end() && (it->second.open || it->second.finished);
  if (!there) {
    if (it != found.end() && it->second.released) return absl::OkStatus();
    return absl::DataLossError(fmt::format(
        "archive file {} is missing from {}. Put it back; or, to go on without "
        "it, make an empty file {}",
        Digits(known.number), folder_.native(),
        it != found.end() ? it->second.base + std::string(kReleasedSuffix)
                          : ArchiveBaseName(settings_.prefix, absl::UnixEpoch(),
                                            known.number, settings_.site) +
                                std::string(kReleasedSuffix)));
  }
  const FileOnDisk& file = it->second;
  if (file.size < known.length) {
    return absl::DataLossError(fmt::format(
        "archive file {} has {} bytes, and the crawl DB points at {}",
        file.base, file.size, known.length));
  }
  // A file is finished only when the DB knows its last byte.
  if (file.finished && file.size > known.length) {
    return Strange(
        fmt::format("{} is finished, but the DB knows only {} of "
                    "its {} bytes",
                    file.base, known.length, file.size));
  }
  return absl::OkStatus();
}

absl::Status Archive::Recover(const ArchiveState& committed_any_order) {
  ArchiveState committed = committed_any_order;
  std::sort(committed.files.begin(), committed.files.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  std::vector<std::filesystem::path> temporary;
  auto found = Scan(&temporary);
  if (!found.ok()) return found.status();
  if (absl::Status s = CheckAgainst(committed, *found); !s.ok()) return s;

  // From here on the folder changes. Each step can be cut off by another
  // crash, and done again.
  for (const auto& path : temporary) {
    if (absl::Status s = Remove(path); !s.ok()) return s;
  }
  for (const auto& [number, file] : *found) {
    if (file.open) {
      const auto known =
          std::find_if(committed.files.begin(), committed.files.end(),
                       [n = number](const auto& f) { return f.number == n; });
      // An index of a file that is not finished may miss lines.
      absl::Status s = Remove(PathOf(file.base, kCdxjSuffix));
      if (!s.ok()) return s;
      s = known == committed.files.end()
              ? Remove(OpenPath(file.base))
              : Adopt(*known, file, *known == committed.files.back());
      if (!s.ok()) return s;
    } else if (file.finished) {
      if (file.released) {
        // The release was cut off before the file left: it did not happen.
        absl::Status s = Remove(PathOf(file.base, kReleasedSuffix));
        if (!s.ok()) return s;
      }
      if (!file.cdxj) {
        // No reason to refuse: the index can be made at any time.
        RebuildCdxj(PathOf(file.base, kWarcSuffix),
                    PathOf(file.base, kCdxjSuffix), settings_.cdxj_memory)
            .IgnoreError();
      }
      MutexLock lock(&mu_);
      files_[number] = {file.base, Stage::kFinished};
    } else if (file.released) {
      MutexLock lock(&mu_);
      files_[number] = {file.base, Stage::kReleased};
    }
  }
  MutexLock lock(&mu_);
  if (!committed.files.empty()) {
    newest_ = committed.files.back();
    has_newest_ = true;
    folder_synced_to_ = newest_.number;
  }
  return SyncFolder(folder_);
}

// Cuts the file to what the DB knows and goes on with it.
absl::Status Archive::Adopt(const ArchiveState::File& known,
                            const FileOnDisk& found, bool newest) {
  const std::filesystem::path path = OpenPath(found.base);
  auto fd = OpenFd(path, O_RDWR);
  if (!fd.ok()) return fd.status();
  if (found.size > known.length) {
    if (absl::Status s = Cut(*fd, known.length, path); !s.ok()) return s;
    if (absl::Status s = SyncData(*fd, path); !s.ok()) return s;
  }
  auto file = std::make_shared<OpenFile>();
  file->number = known.number;
  file->base = found.base;
  file->fd = *std::move(fd);
  file->length = known.length;
  MutexLock lock(&mu_);
  files_[known.number] = {found.base, Stage::kOpen};
  if (newest) {
    current_ = std::move(file);
  } else {
    closing_.push_back(std::move(file));
  }
  return absl::OkStatus();
}

}  // namespace gannet::storage
