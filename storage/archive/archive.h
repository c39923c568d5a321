// Archive keeps what was fetched: WARC files in one folder, written by many
// threads, in step with the crawl DB. The rule that keeps the two in step
// (DESIGN, section 5):
//
//   positions = Append(records)      any thread, any number of times
//   state = Sync()                   the bytes are on the disk
//   DB batch with positions + state  the DB points only at what is there
//   Committed(state)                 full files may now be finished
//
// After a crash Open() gets the state of the last batch and cuts each file to
// it. A file is *finished* (indexed, and renamed from .open) only after the
// DB knows its last byte: so a finished file never changes again, an operator
// may take it away at any time, and recovery never touches one. README.md
// goes through the crash points.
//
// Thread-safe. Append() compresses in the caller's thread and takes the lock
// only to write; Sync() does not hold up Append(); Read() locks only to look
// up a name. One process at a time (the crawl DB's lock sees to that).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "storage/archive/archive_meter.h"
#include "storage/archive/archive_name.h"
#include "storage/archive/cdxj_merge.h"
#include "storage/archive/cdxj_sorter.h"
#include "storage/archive/disk.h"
#include "storage/archive/record_packer.h"
#include "storage/archive/warc_header.h"
#include "storage/archive/warc_reader.h"
#include "storage/clock.h"
#include "storage/mutex.h"

namespace gannet::storage {

struct ArchiveSettings {
  std::string prefix = "GANNET";  // Letters, digits, "_" and ".".
  std::string site = "site";      // The same, and "-".

  // A file that has reached this size gets no more records. Archives and
  // players handle 1 GiB well (WARC 1.1, annex C).
  uint64_t file_size = uint64_t{1} << 30;

  // Append() refuses to go below this much free space: the crawl DB on the
  // same disk needs room to say so.
  uint64_t min_free = 0;

  int level = 1;                  // libdeflate's, 1 (fast) to 12.
  bool block_digests = true;      // WARC-Block-Digest: some 11 us a page.
  size_t cdxj_memory = 16 << 20;  // For the index of the file being written.

  // Fields of the warcinfo record beside software and format: operator,
  // http-header-user-agent, robots, ...
  std::vector<std::pair<std::string, std::string>> info;
};

// Where a record is. Kept in the crawl DB.
struct Position {
  FileNumber file{};
  uint64_t offset = 0;
  uint64_t length = 0;  // On disk, compressed.

  friend bool operator==(const Position&, const Position&) = default;
};

// What the crawl DB keeps of the archive, in the batch that needs it. Always
// has the newest file, even a finished one; empty only before the first Sync()
// after an Append().
struct ArchiveState {
  struct File {
    FileNumber number{};
    uint64_t length = 0;

    friend bool operator==(const File&, const File&) = default;
  };
  std::vector<File> files;  // By number.

  friend bool operator==(const ArchiveState&, const ArchiveState&) = default;
};

struct ArchivedRecord {
  WarcHeader header;
  std::string block;
};

struct FinishedFile {
  FileNumber number{};
  std::string name;  // In the archive's folder.
  uint64_t size = 0;
  uint64_t captures = 0;  // Responses and revisits: the lines of its CDXJ.
  std::string first_date, last_date;  // "20260131235959", of the captures.
  bool released = false;              // Then `size` is 0.
};

// The links of an archived page, or where it redirects to.
struct PageLinks {
  std::string url;
  // The page was a redirect; its target is then the only link. The target is as
  // the server wrote it: perhaps relative to `url`.
  bool has_moved = false;
  std::vector<std::string> links;
};

class Archive {
 public:
  // Makes the folder if need be. `committed` is the state that the crawl DB
  // holds. kFailedPrecondition if the folder cannot be what a crash left of
  // that state (another site's folder, a DB from an old backup): nothing has
  // been changed then. kDataLoss if bytes that the DB points at are gone.
  // `clock` must outlive it.
  static absl::StatusOr<std::unique_ptr<Archive>> Open(
      std::filesystem::path folder, ArchiveSettings settings,
      const ArchiveState& committed, Clock& clock);

  // Leaves the file being written as it is; the next Open() goes on with it.
  ~Archive();

  // Writes the records one after the other into one file: all or none.
  // Returns their positions, which mean something only after Sync().
  // kResourceExhausted if the disk is full: what was appended before is kept,
  // and Append() works again once there is space. Any other error is final.
  absl::StatusOr<std::vector<Position>> Append(
      absl::Span<const NewRecord> group);

  // ArchiveSettings::min_free, from now on.
  void SetMinFree(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  // All that was appended before the call is on the disk when it returns.
  // kResourceExhausted if the disk is full: call again once there is space.
  // Any other error is final.
  absl::StatusOr<ArchiveState> Sync();

  // Not OK: a write has failed, and only a new Open() goes on.
  absl::Status broken() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return broken_;
  }

  // REQUIRES: the DB holds `state`, on disk. Finishes the full files that it
  // covers. An error here (a full disk) harms nothing: they stay .open and the
  // next call tries again.
  absl::Status Committed(const ArchiveState& state);

  // Lets the next Append() begin a new file; the present one is finished by
  // the Sync(), Committed() to come, or by Committed() alone with the state of
  // the last batch if nothing was appended since.
  void EndFile();

  // kNotFound ("released") if the operator took the file away; kDataLoss if
  // it is missing otherwise, or the record cannot be read.
  absl::StatusOr<ArchivedRecord> Read(const Position& position);

  // What is recorded of the response at `position` beside it (WARC fields): the
  // block of the metadata record behind it. kNotFound if it has none.
  absl::StatusOr<std::string> ReadMetadata(const Position& position);

  // The outlinks of the page whose response is at `position`: those of the
  // metadata record behind it. kNotFound if it has none.
  absl::StatusOr<std::vector<std::string>> ReadOutlinks(
      const Position& position);

  // Calls `visit` with where each page led, of all files that are there, oldest
  // first, until it says false; one that is being written is read as far as it
  // is now. A page that was fetched twice comes twice. Of a damaged file the
  // rest is left out, of a missing one everything; `on_damage` is called for
  // each.
  absl::Status ForEachOutlinks(
      const std::function<bool(const PageLinks& page)>& visit,
      const std::function<void(const absl::Status&)>& on_damage);

  // Calls `visit` with each line of the index of all files (cdxj_merge.h),
  // sorted, until it says false. A file that is being written is read as far as
  // `whole_bytes` says. Temporary files live in `scratch`.
  absl::Status ForEachCdxjLine(
      const std::filesystem::path& scratch, const WholeBytes& whole_bytes,
      const std::function<bool(std::string_view)>& visit) const;

  ArchiveSize MeasureSize() { return meter_.Measure(); }

  // Finished and released files, by number.
  absl::StatusOr<std::vector<FinishedFile>> List();

  // Moves a finished file to the folder `to`, or deletes it if `to` is empty.
  // Its index stays, and a marker tells "released" from "lost".
  // kFailedPrecondition if it is still being written.
  absl::Status Release(FileNumber number, const std::filesystem::path& to);

 private:
  // A file that is not finished. `length` and `pending` are guarded by mu_; a
  // thread that syncs or finishes a file holds a pointer to it and uses only
  // the other fields.
  struct OpenFile {
    FileNumber number;
    std::string base;
    Fd fd;
    uint64_t length = 0;  // With what is pending.
    // The end of the file, not yet handed to the kernel: a write of 5 KB costs
    // it 8 us, and one of 256 KB 2 us for each 5 KB.
    std::string pending;
    // Null if lines are missing, after a restart or a full disk: then the
    // index is made from the file when it is finished.
    std::unique_ptr<CdxjSorter> cdxj;
  };
  enum class Stage { kOpen, kFinished, kReleased };
  struct Entry {
    std::string base;
    Stage stage = Stage::kOpen;
  };

  Archive(std::filesystem::path folder, ArchiveSettings settings, Clock& clock);

  // archive_open.cc
  struct FileOnDisk;
  absl::StatusOr<std::map<FileNumber, FileOnDisk>> Scan(
      std::vector<std::filesystem::path>* temporary) const;
  absl::Status CheckAgainst(
      const ArchiveState& committed,
      const std::map<FileNumber, FileOnDisk>& found) const;
  absl::Status CheckKnown(const ArchiveState::File& known,
                          const std::map<FileNumber, FileOnDisk>& found) const;
  absl::Status Recover(const ArchiveState& committed);
  absl::Status Adopt(const ArchiveState::File& known, const FileOnDisk& found,
                     bool newest);

  std::unique_ptr<RecordPacker> TakePacker() ABSL_LOCKS_EXCLUDED(packers_mu_);
  void ReturnPacker(std::unique_ptr<RecordPacker> packer)
      ABSL_LOCKS_EXCLUDED(packers_mu_);
  absl::Status CheckSpace(uint64_t more) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status StartFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status WriteCurrent(std::string_view bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Hands over what is pending. On a full disk it stays pending.
  absl::Status Flush(OpenFile& file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status WriteOrUndo(OpenFile& file, std::string_view bytes,
                           uint64_t offset) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status FinishFile(OpenFile& file)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(finish_mu_) ABSL_LOCKS_EXCLUDED(mu_);

  std::filesystem::path PathOf(std::string_view base,
                               std::string_view suffix) const;
  std::filesystem::path OpenPath(std::string_view base) const;
  std::string WarcinfoFields() const;

  // archive_take_out.cc
  struct Place {
    Entry entry;
    uint64_t end;  // Of what can be read.
  };
  absl::StatusOr<Place> PlaceOf(FileNumber number) ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<Place> PlaceOf(FileNumber number, uint64_t offset)
      ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<std::unique_ptr<WarcReader>> ReaderAt(FileNumber number,
                                                       uint64_t offset)
      ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Describe(const std::filesystem::path& cdxj,
                        FinishedFile* file) const;
  absl::Status TakeAway(const std::filesystem::path& from,
                        const std::filesystem::path& to) const;
  void SetStage(FileNumber number, Stage stage) ABSL_LOCKS_EXCLUDED(mu_);

  const std::filesystem::path folder_;
  const ArchiveSettings settings_;
  Clock& clock_;

  // One finisher or releaser at a time. Taken before mu_.
  Mutex finish_mu_;
  std::map<FileNumber, FinishedFile> listed_ ABSL_GUARDED_BY(finish_mu_);

  Mutex mu_;
  std::shared_ptr<OpenFile> current_ ABSL_GUARDED_BY(mu_);
  // Full, but the DB may not yet know their last byte.
  std::vector<std::shared_ptr<OpenFile>> closing_ ABSL_GUARDED_BY(mu_);
  std::map<FileNumber, Entry> files_ ABSL_GUARDED_BY(mu_);
  ArchiveState::File newest_ ABSL_GUARDED_BY(mu_);
  bool has_newest_ ABSL_GUARDED_BY(mu_) = false;
  FileNumber folder_synced_to_ ABSL_GUARDED_BY(mu_){};
  ArchiveMeter meter_{folder_};
  uint64_t unchecked_bytes_ ABSL_GUARDED_BY(mu_);
  uint64_t min_free_ ABSL_GUARDED_BY(mu_);
  // Set when the disk holds something that we no longer know (a failed sync,
  // a failed undo): only a new Open() knows what is true again.
  absl::Status broken_ ABSL_GUARDED_BY(mu_);

  Mutex packers_mu_;
  std::vector<std::unique_ptr<RecordPacker>> packers_
      ABSL_GUARDED_BY(packers_mu_);
};

}  // namespace gannet::storage
