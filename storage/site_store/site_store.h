// SiteStore is all that a site keeps in its data folder: the crawl DB and the
// archive, opened together and kept in agreement (DESIGN, section 5):
//
//   DATA/crawl_db/    what is known       DATA/archive/    what was fetched
//
// A completed page's record in the DB points into the archive, so the archive
// is synced before the DB's batch, and the batch holds the length of each open
// archive file; on the next start the files are cut to it. Thread-safe, as its
// two parts are.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/archive/archive.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/mutex.h"

namespace gannet::storage {

struct SiteStoreSettings {
  std::string folder;
  // Otherwise a folder without a crawl DB is kNotFound.
  bool create = false;
  uint64_t block_cache_bytes = CrawlDbSettings{}.block_cache_bytes;
  uint64_t write_buffer_bytes = CrawlDbSettings{}.write_buffer_bytes;
  std::optional<size_t> max_open_files = std::nullopt;  // Of the crawl DB.
  std::optional<Order> order = std::nullopt;  // As in CrawlDbSettings.
  ArchiveSettings archive;
};

struct BackupSize {
  int64_t files = 0;
  uint64_t bytes = 0;
};

class SiteStore {
 public:
  // Errors are those of CrawlDb::Open and Archive::Open. `clock` must outlive
  // it.
  static absl::StatusOr<std::unique_ptr<SiteStore>> Open(
      const SiteStoreSettings& settings, Clock& clock);

  CrawlDb& crawl_db() { return *crawl_db_; }
  Archive& archive() { return *archive_; }

  // Group commit: what the completions point at in the archive is on disk
  // before they are. Returns how many were completed (CrawlDb::Complete).
  absl::StatusOr<int64_t> Complete(absl::Span<const Completion> completions,
                                   absl::Span<const HostUpdate> hosts);

  // Ends the archive file being written, so that it gets its index and its
  // final name, if the crawl DB knows its last byte: so always once a round is
  // over. Otherwise the next Complete() does it. Nothing is written to the DB:
  // a kill at any moment leaves what Archive::Open() expects after a rollover.
  absl::Status FinishArchiveFile();

  // Not OK: a write has failed, and nothing more is written until the store is
  // opened again. kResourceExhausted: the disk was full.
  absl::Status Broken();

  // Copies the site into a new folder, while others write: a checkpoint of
  // the crawl DB, and the archive as far as it knows it (backup.cc). The folder
  // is there only when all of it is. kInvalidArgument if it exists already;
  // kResourceExhausted: disk full.
  absl::StatusOr<BackupSize> BackUp(const std::string& folder);

  // Checks::Verify, and I2: each archive position of the pages looked at leads
  // to a readable record of that URL, or to a file that the operator released.
  // One runs at a time; other callers wait.
  absl::StatusOr<std::vector<Check>> Verify(bool full)
      ABSL_LOCKS_EXCLUDED(verify_mu_);

 private:
  SiteStore(std::string folder, std::unique_ptr<CrawlDb> crawl_db,
            std::unique_ptr<Archive> archive)
      : folder_(std::move(folder)),
        crawl_db_(std::move(crawl_db)),
        archive_(std::move(archive)) {}

  const std::string folder_;
  std::unique_ptr<CrawlDb> crawl_db_;
  std::unique_ptr<Archive> archive_;
  // One group commit at a time: a batch with an older length of the archive
  // must not come after one with a newer.
  Mutex complete_mu_;
  // One Verify at a time is load enough.
  Mutex verify_mu_;
};

// Makes a site out of a backup, in a folder that is new or empty, with a new
// incarnation: it is another life of that site (DESIGN, section 2). The backup
// stays as it is. There is a site in the folder only when all of it is there.
absl::Status RestoreBackup(const std::string& backup,
                           const std::string& folder);

}  // namespace gannet::storage
