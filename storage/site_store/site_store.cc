#include "storage/site_store/site_store.h"

#include <fmt/format.h>

#include <filesystem>

#include "storage/url/surt.h"

namespace gannet::storage {
namespace {

ArchiveState FromProto(const proto::ArchiveState& stored) {
  ArchiveState state;
  for (const proto::OpenArchiveFile& file : stored.open()) {
    state.files.push_back({FileNumber{file.number()}, file.length()});
  }
  return state;
}

proto::ArchiveState ToProto(const ArchiveState& state) {
  proto::ArchiveState stored;
  for (const ArchiveState::File& file : state.files) {
    proto::OpenArchiveFile* open = stored.add_open();
    open->set_number(static_cast<uint32_t>(file.number));
    open->set_length(file.length);
  }
  return stored;
}

// Invariant I2, page by page.
class PositionCheck {
 public:
  explicit PositionCheck(Archive& archive) : archive_(archive) {}

  // Whether the page holds I2; counts it.
  bool KeepsI2(std::string_view page, const proto::PageRecord& record) {
    if (!record.has_archive()) return true;
    const proto::ArchivePosition& at = record.archive();
    const absl::StatusOr<ArchivedRecord> read =
        archive_.Read({FileNumber{at.file()}, at.offset(), at.length()});
    if (absl::IsNotFound(read.status())) {
      ++released_;
      return true;
    }
    const absl::StatusOr<std::string> url = UrlFromSurt(SurtOf(page));
    if (!read.ok()) return Name(page, std::string(read.status().message()));
    if (!url.ok() || read->header.Get("WARC-Target-URI") != *url) {
      return Name(page, "the archive has another URL there");
    }
    if (read->header.Get("WARC-Type") != "response") {
      return Name(page, "the archive has no response there");
    }
    ++readable_;
    return true;
  }

  Check Result() const {
    return {"I2 archive positions", wrong_ == 0,
            fmt::format("{} readable, {} in released files, {} wrong{}",
                        readable_, released_, wrong_, named_)};
  }

 private:
  bool Name(std::string_view page, const std::string& why) {
    if (++wrong_ <= 5) named_ += fmt::format("; {}: {}", SurtOf(page), why);
    return false;
  }

  Archive& archive_;
  int64_t readable_ = 0;
  int64_t released_ = 0;
  int64_t wrong_ = 0;
  std::string named_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SiteStore>> SiteStore::Open(
    const SiteStoreSettings& settings, Clock& clock) {
  const std::string db_folder = settings.folder + "/crawl_db";
  const std::string archive_folder = settings.folder + "/archive";
  const bool is_new = !std::filesystem::exists(db_folder + "/CURRENT");
  // A new DB would take the archive's open file for one that no batch knows,
  // and remove it.
  std::error_code none;
  if (is_new && std::filesystem::exists(archive_folder) &&
      !std::filesystem::is_empty(archive_folder, none)) {
    return absl::FailedPreconditionError(
        fmt::format("{} is not empty, but there is no crawl DB in {}; restore "
                    "it from a backup, or move the archive away",
                    archive_folder, db_folder));
  }
  if (is_new && !settings.create) {
    return absl::NotFoundError(
        fmt::format("there is no site in {}", settings.folder));
  }
  absl::StatusOr<std::unique_ptr<CrawlDb>> crawl_db =
      CrawlDb::Open({.folder = db_folder,
                     .block_cache_bytes = settings.block_cache_bytes,
                     .write_buffer_bytes = settings.write_buffer_bytes,
                     .max_open_files = settings.max_open_files,
                     .order = settings.order});
  if (!crawl_db.ok()) return crawl_db.status();
  absl::StatusOr<proto::ArchiveState> state =
      (*crawl_db)->records().archive_state();
  if (!state.ok()) return state.status();
  absl::StatusOr<std::unique_ptr<Archive>> archive =
      Archive::Open(archive_folder, settings.archive, FromProto(*state), clock);
  if (!archive.ok()) return archive.status();
  return std::unique_ptr<SiteStore>(new SiteStore(
      settings.folder, *std::move(crawl_db), *std::move(archive)));
}

absl::StatusOr<int64_t> SiteStore::Complete(
    absl::Span<const Completion> completions,
    absl::Span<const HostUpdate> hosts) {
  MutexLock lock(&complete_mu_);
  absl::StatusOr<ArchiveState> synced = archive_->Sync();
  if (!synced.ok()) return synced.status();
  absl::StatusOr<int64_t> completed =
      crawl_db_->round().Complete(completions, hosts, ToProto(*synced));
  if (!completed.ok()) return completed;
  // Harms nothing if it fails (archive.h): the pages are on the disk, and the
  // next group tries again. FinishArchiveFile() reports such an error.
  archive_->Committed(*synced).IgnoreError();
  return completed;
}

absl::Status SiteStore::Broken() {
  const absl::Status crawl_db = crawl_db_->broken();
  return crawl_db.ok() ? archive_->broken() : crawl_db;
}

absl::Status SiteStore::FinishArchiveFile() {
  MutexLock lock(&complete_mu_);
  // What is in the DB may not be on the disk, and then ends no file.
  if (absl::Status broken = Broken(); !broken.ok()) return broken;
  // Not a Sync(): only what the DB holds by now may end a file.
  absl::StatusOr<proto::ArchiveState> known =
      crawl_db_->records().archive_state();
  if (!known.ok()) return known.status();
  archive_->EndFile();
  return archive_->Committed(FromProto(*known));
}

absl::StatusOr<std::vector<Check>> SiteStore::Verify(bool full) {
  MutexLock lock(&verify_mu_);
  PositionCheck positions(*archive_);
  absl::StatusOr<std::vector<Check>> checks = crawl_db_->checks().Verify(
      full, [&](std::string_view page, const proto::PageRecord& record) {
        return positions.KeepsI2(page, record);
      });
  if (!checks.ok()) return checks;
  checks->push_back(positions.Result());
  return checks;
}

}  // namespace gannet::storage
