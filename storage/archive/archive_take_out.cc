// What comes out of the archive: records by position, and whole files.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "storage/archive/archive.h"
#include "storage/archive/http_message.h"
#include "storage/archive/outlinks.h"

namespace gannet::storage {
namespace {

// Says in which file it was. Codes stay, for callers decide by them.
absl::Status InFile(const absl::Status& status, std::string_view base) {
  const absl::string_view message = status.message();
  return absl::Status(
      status.code(),
      fmt::format("{}: {}", base,
                  std::string_view(message.data(), message.size())));
}

// The beginning of a response: a head that is longer than jobs/fetch takes is
// read in part.
constexpr size_t kHeadBytes = 64 << 10;

absl::StatusOr<std::string> ReadHead(WarcReader& reader) {
  std::string head(kHeadBytes, '\0');
  size_t size = 0;
  while (size < head.size()) {
    auto more = reader.ReadBlock(head.data() + size, head.size() - size);
    if (!more.ok()) return more.status();
    if (*more == 0) break;
    size += *more;
  }
  head.resize(size);
  return head;
}

// The links of the reader's current record; most records have none. A page's
// outlinks have a record of their own. A redirect has none: its target is in
// the response itself.
absl::StatusOr<PageLinks> LinksOf(WarcReader& reader) {
  PageLinks page;
  const RecordType type = reader.header().type;
  if (type != RecordType::kMetadata && type != RecordType::kResponse) {
    return page;
  }
  page.url = reader.header().TargetUri();
  if (type == RecordType::kMetadata) {
    auto block = reader.ReadWholeBlock();
    if (!block.ok()) return block.status();
    page.links = ParseOutlinks(*block);
    return page;
  }
  auto block = ReadHead(reader);
  if (!block.ok()) return block.status();
  const HttpHead head = SplitHttpResponse(*block);
  const std::string_view location = head.Get("Location");
  if (!IsRedirect(head.status) || location.empty()) return page;
  page.has_moved = true;
  page.links.emplace_back(location);
  return page;
}

absl::Status Released(FileNumber number) {
  return absl::NotFoundError(fmt::format(
      "archive file {} was released by the operator", Digits(number)));
}

absl::Status Lost(FileNumber number) {
  return absl::DataLossError(fmt::format(
      "archive file {} is missing, and was not released", Digits(number)));
}

}  // namespace

absl::StatusOr<Archive::Place> Archive::PlaceOf(FileNumber number) {
  MutexLock lock(&mu_);
  const auto it = files_.find(number);
  if (it == files_.end()) return Lost(number);
  if (it->second.stage == Stage::kReleased) return Released(number);
  return Place{it->second, std::numeric_limits<uint64_t>::max()};
}

// What is pending is handed over only if it is asked for: on a full disk all
// that is there can still be read. Records are never half pending.
absl::StatusOr<Archive::Place> Archive::PlaceOf(FileNumber number,
                                                uint64_t offset) {
  auto place = PlaceOf(number);
  if (!place.ok() || place->entry.stage != Stage::kOpen) return place;
  MutexLock lock(&mu_);
  std::vector<OpenFile*> open = {current_.get()};
  for (const auto& file : closing_) open.push_back(file.get());
  for (OpenFile* file : open) {
    if (file == nullptr || file->number != number) continue;
    if (offset >= file->length - file->pending.size()) {
      if (absl::Status s = Flush(*file); !s.ok()) return s;
    }
    place->end = file->length - file->pending.size();
  }
  return place;
}

absl::StatusOr<std::unique_ptr<WarcReader>> Archive::ReaderAt(FileNumber number,
                                                              uint64_t offset) {
  auto place = PlaceOf(number, offset);
  if (!place.ok()) return place.status();
  const std::string& base = place->entry.base;
  absl::StatusOr<std::unique_ptr<ByteSource>> source =
      absl::NotFoundError("not open");
  if (place->entry.stage == Stage::kOpen) {
    source = FileSource(OpenPath(base), place->end);
  }
  // Finished; or it was just being renamed.
  if (absl::IsNotFound(source.status())) {
    source = FileSource(PathOf(base, kWarcSuffix), place->end);
  }
  if (absl::IsNotFound(source.status())) {
    place = PlaceOf(number);  // Was it released meanwhile?
    return place.ok() ? Lost(number) : place.status();
  }
  if (!source.ok()) return source.status();
  return std::make_unique<WarcReader>(*std::move(source), ReaderLimits{},
                                      offset);
}

absl::StatusOr<ArchivedRecord> Archive::Read(const Position& position) {
  auto reader = ReaderAt(position.file, position.offset);
  if (!reader.ok()) return reader.status();
  const std::string where = "archive file " + Digits(position.file);
  auto found = (*reader)->Next();
  if (!found.ok()) return InFile(found.status(), where);
  if (!*found) {
    return absl::DataLossError(
        fmt::format("{}: no record at offset {}", where, position.offset));
  }
  ArchivedRecord record;
  record.header = (*reader)->header();
  auto block = (*reader)->ReadWholeBlock();
  if (!block.ok()) return InFile(block.status(), where);
  record.block = *std::move(block);
  auto end = (*reader)->Finish();  // Inflates to the end: checks the CRC too.
  if (!end.ok()) return InFile(end.status(), where);
  if (*end - position.offset != position.length) {
    return absl::DataLossError(
        fmt::format("{}: the record at offset {} has {} bytes, not {}", where,
                    position.offset, *end - position.offset, position.length));
  }
  return record;
}

absl::StatusOr<std::string> Archive::ReadMetadata(const Position& position) {
  const std::string where = "archive file " + Digits(position.file);
  auto response = ReaderAt(position.file, position.offset);
  if (!response.ok()) return response.status();
  auto found = (*response)->Next();
  if (!found.ok()) return InFile(found.status(), where);
  if (!*found) {
    return absl::DataLossError(
        fmt::format("{}: no record at offset {}", where, position.offset));
  }
  const std::string_view id = (*response)->header().Get("WARC-Record-ID");

  auto metadata = ReaderAt(position.file, position.offset + position.length);
  if (!metadata.ok()) return metadata.status();
  found = (*metadata)->Next();
  if (!found.ok()) return InFile(found.status(), where);
  if (!*found || (*metadata)->header().type != RecordType::kMetadata ||
      (*metadata)->header().Get("WARC-Concurrent-To") != id) {
    return absl::NotFoundError(fmt::format("{}: no metadata behind offset {}",
                                           where, position.offset));
  }
  auto block = (*metadata)->ReadWholeBlock();
  if (!block.ok()) return InFile(block.status(), where);
  return block;
}

absl::StatusOr<std::vector<std::string>> Archive::ReadOutlinks(
    const Position& position) {
  const auto metadata = ReadMetadata(position);
  if (!metadata.ok()) return metadata.status();
  return ParseOutlinks(*metadata);
}

absl::Status Archive::ForEachCdxjLine(
    const std::filesystem::path& scratch, const WholeBytes& whole_bytes,
    const std::function<bool(std::string_view)>& visit) const {
  return storage::ForEachCdxjLine(folder_, scratch, whole_bytes, visit);
}

absl::Status Archive::ForEachOutlinks(
    const std::function<bool(const PageLinks& page)>& visit,
    const std::function<void(const absl::Status&)>& on_damage) {
  std::vector<FileNumber> numbers;
  {
    MutexLock lock(&mu_);
    for (const auto& [number, entry] : files_) numbers.push_back(number);
  }
  for (const FileNumber number : numbers) {
    const std::string where = "archive file " + Digits(number);
    auto reader = ReaderAt(number, 0);
    if (absl::IsNotFound(reader.status())) continue;  // Released.
    if (absl::IsDataLoss(reader.status())) {  // Missing, and says which.
      on_damage(reader.status());
      continue;
    }
    if (!reader.ok()) return reader.status();
    for (;;) {
      auto found = (*reader)->Next();
      if (found.ok() && !*found) break;
      auto page = found.ok() ? LinksOf(**reader)
                             : absl::StatusOr<PageLinks>(found.status());
      if (absl::IsDataLoss(page.status())) {
        on_damage(InFile(page.status(), where));
        break;
      }
      if (!page.ok()) return InFile(page.status(), where);
      if (!page->links.empty() && !visit(*page)) return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<FinishedFile>> Archive::List() {
  MutexLock finishing(&finish_mu_);
  std::map<FileNumber, Entry> entries;
  {
    MutexLock lock(&mu_);
    entries = files_;
  }
  std::vector<FinishedFile> files;
  for (const auto& [number, entry] : entries) {
    if (entry.stage == Stage::kOpen) continue;
    auto [it, is_new] = listed_.try_emplace(number);
    FinishedFile& file = it->second;
    if (is_new) {  // Finished files do not change: looked at once.
      file.number = number;
      file.name = entry.base + std::string(kWarcSuffix);
      absl::Status s = Describe(PathOf(entry.base, kCdxjSuffix), &file);
      if (!s.ok()) {
        listed_.erase(it);
        return s;
      }
    }
    file.released = entry.stage == Stage::kReleased;
    file.size = 0;
    if (!file.released) {
      std::error_code error;
      file.size = std::filesystem::file_size(folder_ / file.name, error);
      if (error) return Lost(number);
    }
    files.push_back(file);
  }
  return files;
}

// Counts the captures, and their dates, by the index: some 50 bytes to read
// for each page, not the page.
absl::Status Archive::Describe(const std::filesystem::path& cdxj,
                               FinishedFile* file) const {
  auto source = FileSource(cdxj);
  if (absl::IsNotFound(source.status())) return absl::OkStatus();
  if (!source.ok()) return source.status();
  std::string buffer(1 << 20, '\0');
  std::string line;
  uint64_t offset = 0;
  for (;;) {
    auto n = (*source)->ReadAt(offset, buffer.data(), buffer.size());
    if (!n.ok()) return n.status();
    if (*n == 0) return absl::OkStatus();
    offset += *n;
    std::string_view rest(buffer.data(), *n);
    for (size_t lf; (lf = rest.find('\n')) != std::string_view::npos;
         rest.remove_prefix(lf + 1)) {
      line.append(rest.substr(0, lf));
      const size_t space = line.find(' ');
      if (space != std::string::npos) {
        std::string date = line.substr(space + 1, 14);
        if (file->captures == 0 || date < file->first_date) {
          file->first_date = date;
        }
        file->last_date = std::max(file->last_date, date);
      }
      ++file->captures;
      line.clear();
    }
    line.append(rest);
  }
}

void Archive::SetStage(FileNumber number, Stage stage) {
  MutexLock lock(&mu_);
  files_[number].stage = stage;
}

absl::Status Archive::Release(FileNumber number,
                              const std::filesystem::path& to) {
  MutexLock finishing(&finish_mu_);
  auto place = PlaceOf(number);
  if (!place.ok()) return place.status();
  if (place->entry.stage == Stage::kOpen) {
    return absl::FailedPreconditionError(
        fmt::format("archive file {} is still being written", Digits(number)));
  }
  const std::string& base = place->entry.base;
  // The marker first: a file that is gone always has one. If only the marker
  // is left of a release that was cut off, Open() removes it.
  const std::filesystem::path marker = PathOf(base, kReleasedSuffix);
  auto made = OpenFd(marker, O_WRONLY | O_CREAT);
  if (!made.ok()) return made.status();
  absl::Status done = SyncFolder(folder_);
  SetStage(number, Stage::kReleased);
  if (done.ok()) done = TakeAway(PathOf(base, kWarcSuffix), to);
  if (!done.ok()) {
    SetStage(number, Stage::kFinished);
    Remove(marker).IgnoreError();
    return done;
  }
  return SyncFolder(folder_);
}

absl::Status Archive::TakeAway(const std::filesystem::path& from,
                               const std::filesystem::path& to) const {
  if (to.empty()) return Remove(from);
  const std::filesystem::path target = to / from.filename();
  std::error_code error;
  if (std::filesystem::exists(target, error)) {
    return absl::AlreadyExistsError(target.native() + " exists already");
  }
  std::filesystem::rename(from, target, error);
  if (error == std::errc::cross_device_link) {
    absl::Status copied = CopyFile(from, target);
    if (!copied.ok()) {
      Remove(target).IgnoreError();
      return copied;
    }
    if (absl::Status s = SyncFolder(to); !s.ok()) return s;
    return Remove(from);
  }
  if (error) return DiskError(error.value(), "move", from);
  // The file has been moved, so an error of syncing its new folder is ignored.
  SyncFolder(to).IgnoreError();
  return absl::OkStatus();
}

}  // namespace gannet::storage
