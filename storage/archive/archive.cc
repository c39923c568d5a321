#include "storage/archive/archive.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "storage/archive/cdxj.h"

namespace gannet::storage {
namespace {

// Between two looks at the free space. Small beside any sensible min_free.
constexpr uint64_t kSpaceCheckBytes = 8 << 20;

constexpr size_t kPendingBytes = 256 << 10;

}  // namespace

Archive::Archive(std::filesystem::path folder, ArchiveSettings settings,
                 Clock& clock)
    : folder_(std::move(folder)),
      settings_(std::move(settings)),
      clock_(clock),
      unchecked_bytes_(kSpaceCheckBytes),
      min_free_(settings_.min_free) {}

Archive::~Archive() = default;

std::filesystem::path Archive::PathOf(std::string_view base,
                                      std::string_view suffix) const {
  return folder_ / fmt::format("{}{}", base, suffix);
}

std::filesystem::path Archive::OpenPath(std::string_view base) const {
  return folder_ / fmt::format("{}{}{}", base, kWarcSuffix, kOpenSuffix);
}

std::unique_ptr<RecordPacker> Archive::TakePacker() {
  {
    MutexLock lock(&packers_mu_);
    if (!packers_.empty()) {
      auto packer = std::move(packers_.back());
      packers_.pop_back();
      return packer;
    }
  }
  return std::make_unique<RecordPacker>(RecordPacker::Settings{
      .level = settings_.level, .block_digests = settings_.block_digests});
}

void Archive::ReturnPacker(std::unique_ptr<RecordPacker> packer) {
  MutexLock lock(&packers_mu_);
  packers_.push_back(std::move(packer));
}

absl::StatusOr<std::vector<Position>> Archive::Append(
    absl::Span<const NewRecord> group) {
  auto packer = TakePacker();
  if (absl::Status packed = packer->Pack(group); !packed.ok()) return packed;

  std::vector<Position> positions;
  positions.reserve(group.size());
  {
    MutexLock lock(&mu_);
    if (!broken_.ok()) return broken_;
    if (absl::Status space = CheckSpace(packer->bytes().size()); !space.ok()) {
      return space;
    }
    if (current_ == nullptr || current_->length >= settings_.file_size) {
      if (absl::Status started = StartFile(); !started.ok()) return started;
    }
    const uint64_t start = current_->length;
    if (absl::Status written = WriteCurrent(packer->bytes()); !written.ok()) {
      return written;
    }
    const std::string filename = current_->base + std::string(kWarcSuffix);
    for (RecordPacker::Packed& record : packer->records()) {
      const Position position{current_->number, start + record.offset,
                              record.length};
      positions.push_back(position);
      if (!record.cdxj.has_value() || current_->cdxj == nullptr) continue;
      FinishCdxjLine(*record.cdxj, position.length, position.offset, filename);
      if (!current_->cdxj->Add(*std::move(record.cdxj)).ok()) {
        current_->cdxj = nullptr;
      }
    }
  }
  ReturnPacker(std::move(packer));
  return positions;
}

void Archive::SetMinFree(uint64_t bytes) {
  MutexLock lock(&mu_);
  min_free_ = bytes;
  unchecked_bytes_ = kSpaceCheckBytes;
}

absl::Status Archive::CheckSpace(uint64_t more) {
  unchecked_bytes_ += more;
  if (min_free_ == 0 || unchecked_bytes_ < kSpaceCheckBytes) {
    return absl::OkStatus();
  }
  auto free = FreeSpace(folder_);
  if (!free.ok()) return free.status();
  if (*free < min_free_ + more) {
    // Looked at again next time: the operator may have made space.
    unchecked_bytes_ = kSpaceCheckBytes;
    return absl::ResourceExhaustedError(fmt::format(
        "disk full: {} has {} bytes free, and archive.min_free is {}",
        folder_.native(), *free, min_free_));
  }
  unchecked_bytes_ = 0;
  return absl::OkStatus();
}

// On failure the file before stays current, and the next Append() tries again.
absl::Status Archive::StartFile() {
  const FileNumber number{
      has_newest_ ? static_cast<uint32_t>(newest_.number) + 1 : 1};
  const absl::Time now = clock_.Now();
  auto file = std::make_shared<OpenFile>();
  file->number = number;
  file->base = ArchiveBaseName(settings_.prefix, now, number, settings_.site);
  const std::filesystem::path path = OpenPath(file->base);
  auto fd = OpenFd(path, O_RDWR | O_CREAT | O_EXCL);
  if (!fd.ok()) return fd.status();
  file->fd = *std::move(fd);
  file->cdxj = std::make_unique<CdxjSorter>(PathOf(file->base, kCdxjSuffix),
                                            settings_.cdxj_memory);

  auto packer = TakePacker();
  packer->PackWarcinfo(file->base + std::string(kWarcSuffix), now,
                       WarcinfoFields());
  absl::Status written = WriteAt(file->fd, packer->bytes(), 0, path);
  if (!written.ok()) {
    Remove(path).IgnoreError();
    return written;
  }
  file->length = packer->bytes().size();
  ReturnPacker(std::move(packer));

  if (current_ != nullptr) closing_.push_back(std::move(current_));
  files_[number] = {file->base, Stage::kOpen};
  newest_ = {number, file->length};
  has_newest_ = true;
  current_ = std::move(file);
  return absl::OkStatus();
}

std::string Archive::WarcinfoFields() const {
  std::string fields;
  AppendField(fields, "software", "gannet");
  AppendField(fields, "format", "WARC File Format 1.1");
  AppendUriField(fields, "conformsTo",
                 "http://iipc.github.io/warc-specifications/specifications/"
                 "warc-format/warc-1.1/");
  for (const auto& [name, value] : settings_.info) {
    AppendField(fields, name, value);
  }
  return fields;
}

absl::Status Archive::WriteCurrent(std::string_view bytes) {
  OpenFile& file = *current_;
  if (file.pending.size() + bytes.size() > kPendingBytes) {
    if (absl::Status flushed = Flush(file); !flushed.ok()) return flushed;
  }
  if (bytes.size() > kPendingBytes) {
    absl::Status written = WriteOrUndo(file, bytes, file.length);
    if (!written.ok()) return written;
  } else {
    file.pending.append(bytes);
  }
  file.length += bytes.size();
  newest_.length = file.length;
  return absl::OkStatus();
}

absl::Status Archive::Flush(OpenFile& file) {
  if (file.pending.empty()) return absl::OkStatus();
  absl::Status written =
      WriteOrUndo(file, file.pending, file.length - file.pending.size());
  if (written.ok()) file.pending.clear();
  return written;
}

absl::Status Archive::WriteOrUndo(OpenFile& file, std::string_view bytes,
                                  uint64_t offset) {
  const std::filesystem::path path = OpenPath(file.base);
  absl::Status written = WriteAt(file.fd, bytes, offset, path);
  if (written.ok()) return written;
  // Gives back the space that half a write took; only a full disk will pass.
  absl::Status undone = Cut(file.fd, offset, path);
  if (!undone.ok()) {
    broken_ = undone;
  } else if (written.code() != absl::StatusCode::kResourceExhausted) {
    broken_ = written;
  }
  return written;
}

absl::StatusOr<ArchiveState> Archive::Sync() {
  std::vector<std::shared_ptr<OpenFile>> files;
  ArchiveState state;
  bool sync_folder = false;
  FileNumber newest{};
  {
    MutexLock lock(&mu_);
    if (!broken_.ok()) return broken_;
    files = closing_;
    if (current_ != nullptr) files.push_back(current_);
    for (const auto& file : files) {
      if (absl::Status flushed = Flush(*file); !flushed.ok()) return flushed;
      state.files.push_back({file->number, file->length});
    }
    // Recovery must know which files are newer than the DB, so the newest is
    // named even when it is finished.
    if (has_newest_ &&
        (files.empty() || files.back()->number != newest_.number)) {
      state.files.push_back(newest_);
    }
    newest = newest_.number;
    sync_folder = folder_synced_to_ < newest;
  }

  // Without the lock: others go on appending, behind the lengths taken above.
  absl::Status synced;
  for (const auto& file : files) {
    if (synced.ok()) synced = SyncData(file->fd, OpenPath(file->base));
  }
  if (synced.ok() && sync_folder) synced = SyncFolder(folder_);

  MutexLock lock(&mu_);
  if (!synced.ok()) {
    // The kernel may have dropped the unwritten pages, and would then report
    // success next time.
    broken_ = synced;
    return synced;
  }
  folder_synced_to_ = std::max(folder_synced_to_, newest);
  return state;
}

absl::Status Archive::Committed(const ArchiveState& state) {
  MutexLock finishing(&finish_mu_);
  std::vector<std::shared_ptr<OpenFile>> known;
  {
    MutexLock lock(&mu_);
    for (const auto& file : closing_) {
      const ArchiveState::File whole{file->number, file->length};
      if (std::count(state.files.begin(), state.files.end(), whole) > 0) {
        known.push_back(file);
      }
    }
  }
  for (const auto& file : known) {
    if (absl::Status done = FinishFile(*file); !done.ok()) return done;
  }
  return absl::OkStatus();
}

// Index first, then the name: a file with its final name always has an index.
// Each step may have been done by an earlier call that failed later.
absl::Status Archive::FinishFile(OpenFile& file) {
  const FileNumber number = file.number;
  bool renamed = false;
  {
    MutexLock lock(&mu_);
    renamed = files_[number].stage == Stage::kFinished;
  }
  if (!renamed) {
    const std::filesystem::path open = OpenPath(file.base);
    const std::filesystem::path cdxj = PathOf(file.base, kCdxjSuffix);
    absl::Status done = file.cdxj != nullptr
                            ? file.cdxj->Write()
                            : RebuildCdxj(open, cdxj, settings_.cdxj_memory);
    if (done.ok()) done = Rename(open, PathOf(file.base, kWarcSuffix));
    if (!done.ok()) return done;
    MutexLock lock(&mu_);
    files_[number].stage = Stage::kFinished;
  }
  if (absl::Status synced = SyncFolder(folder_); !synced.ok()) return synced;
  // Only now does Sync() stop naming the file: had a crash undone the rename,
  // Open() would find a .open that the DB does not know.
  MutexLock lock(&mu_);
  std::erase_if(closing_,
                [number](const auto& f) { return f->number == number; });
  return absl::OkStatus();
}

void Archive::EndFile() {
  MutexLock lock(&mu_);
  if (current_ != nullptr) closing_.push_back(std::move(current_));
  current_ = nullptr;
}

}  // namespace gannet::storage
