// Backups of a site that is crawling, and sites made from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "storage/site_store/site_store.h"
#include "tests/storage/site_store/sample_site.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<SiteStore> Open(const std::string& folder,
                                uint64_t file_size = uint64_t{1} << 30) {
  SiteStoreSettings settings;
  settings.folder = folder;
  settings.create = true;
  settings.archive.file_size = file_size;
  auto store = SiteStore::Open(settings, SystemClock());
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

std::string FailedChecks(SiteStore& store) {
  std::string failed;
  const auto checks = store.Verify(/*full=*/true);
  for (const Check& check : *checks) {
    if (!check.ok) failed += check.name + ": " + check.detail + "\n";
  }
  return failed;
}

class BackupTest : public testing::Test {
 protected:
  std::string In(const std::string& name) {
    return folder_.path() + "/" + name;
  }
  TemporaryFolder folder_;
};

TEST_F(BackupTest, ARestoredBackupIsTheSameSiteInAnotherLife) {
  auto store = Open(In("site"));
  CrawlSampleRound(*store, 0, 10, [] {});
  proto::SiteIdentity identity;
  identity.set_name("tokyo");
  identity.set_incarnation(7);
  ASSERT_TRUE(store->crawl_db().records().SetIdentity(identity).ok());
  const auto size = store->BackUp(In("backup"));
  ASSERT_TRUE(size.ok()) << size.status();
  EXPECT_GT(size->files, 2);
  EXPECT_GT(size->bytes, 1000u);

  ASSERT_TRUE(RestoreBackup(In("backup"), In("restored")).ok());
  auto restored = Open(In("restored"));
  EXPECT_EQ(FailedChecks(*restored), "");
  EXPECT_EQ(restored->crawl_db().totals(), store->crawl_db().totals());
  EXPECT_EQ(restored->crawl_db().records().identity()->name(), "tokyo");
  EXPECT_NE(restored->crawl_db().records().identity()->incarnation(), 7u);
  EXPECT_EQ(store->crawl_db().records().identity()->incarnation(), 7u);
  // Both the site and its copy go on crawling.
  CrawlSampleRound(*restored, 100, 5, [] {});
  CrawlSampleRound(*store, 200, 5, [] {});
  EXPECT_EQ(FailedChecks(*restored), "");
  EXPECT_EQ(FailedChecks(*store), "");
}

TEST_F(BackupTest, ABackupTakenAtAnyMomentOfACrawlHoldsTheInvariants) {
  auto store = Open(In("site"), /*file_size=*/20'000);  // Rolls over often.
  CrawlSampleRound(*store, 0, 5, [] {});
  std::atomic<bool> stop = false;
  std::thread crawl([&] {
    // With a limit: with sanitizers the site may grow faster than a backup
    // copies it, and then the backup would never end.
    for (int first = 1000; !stop && first < 30'000; first += 20) {
      CrawlSampleRound(*store, first, 20, [] {});
    }
  });
  for (int i = 0; i < 8; ++i) {
    const std::string backup = In("backup" + std::to_string(i));
    const auto size = store->BackUp(backup);
    ASSERT_TRUE(size.ok()) << size.status();
    const std::string site = In("restored" + std::to_string(i));
    const absl::Status restored = RestoreBackup(backup, site);
    ASSERT_TRUE(restored.ok()) << restored;
    auto copy = Open(site);
    ASSERT_NE(copy, nullptr);
    EXPECT_EQ(FailedChecks(*copy), "");
  }
  stop = true;
  crawl.join();
  EXPECT_EQ(FailedChecks(*store), "");
}

// Notes of megabytes lie in files of their own (crawl_db/columns.cc).
TEST_F(BackupTest, ABackupHasLargeNotesToo) {
  auto store = Open(In("site"));
  CrawlSampleRound(*store, 0, 5, [] {});
  std::string large;
  for (int64_t i = 0; i < 200'000; ++i) large += std::to_string(i * 7919);
  ASSERT_TRUE(store->crawl_db().records().PutNote("sent_urls", "before").ok());
  ASSERT_TRUE(store->crawl_db().records().PutNote("sent_urls", large).ok());
  ASSERT_TRUE(store->BackUp(In("backup")).ok());
  const auto is_blob = [](const fs::directory_entry& file) {
    return file.path().extension() == ".blob";
  };
  EXPECT_EQ(
      std::count_if(fs::directory_iterator(In("backup/crawl_db")), {}, is_blob),
      1);
  ASSERT_TRUE(RestoreBackup(In("backup"), In("restored")).ok());
  auto restored = Open(In("restored"));
  EXPECT_EQ(*restored->crawl_db().records().GetNote("sent_urls"), large);
  EXPECT_EQ(FailedChecks(*restored), "");
}

TEST_F(BackupTest, ReleasedFilesStayReleasedInTheCopy) {
  auto store = Open(In("site"));
  CrawlSample(*store, 5);
  ASSERT_TRUE(store->FinishArchiveFile().ok());
  ASSERT_TRUE(
      store->archive().Release((*store->archive().List())[0].number, "").ok());
  ASSERT_TRUE(store->BackUp(In("backup")).ok());
  const absl::Status restored = RestoreBackup(In("backup"), In("restored"));
  ASSERT_TRUE(restored.ok()) << restored;
  EXPECT_EQ(FailedChecks(*Open(In("restored"))), "");
}

TEST_F(BackupTest, NothingThatExistsIsOverwritten) {
  auto store = Open(In("site"));
  CrawlSample(*store, 2);
  fs::create_directories(In("there/mine"));
  EXPECT_TRUE(absl::IsInvalidArgument(store->BackUp(In("there")).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(store->BackUp("").status()));
  ASSERT_TRUE(store->BackUp(In("backup")).ok());
  EXPECT_TRUE(
      absl::IsInvalidArgument(RestoreBackup(In("backup"), In("there"))));
  EXPECT_TRUE(fs::is_empty(In("there/mine")));
  EXPECT_TRUE(absl::IsInvalidArgument(RestoreBackup(In("there"), In("new"))));
  EXPECT_FALSE(fs::exists(In("new")));
}

TEST_F(BackupTest, LeftoversOfAnInterruptedBackupDoNotPreventTheNext) {
  auto store = Open(In("site"));
  CrawlSample(*store, 2);
  fs::create_directories(In("backup.partial/crawl_db"));
  std::ofstream(In("backup.partial/.unfinished-gannet-backup"));
  ASSERT_TRUE(store->BackUp(In("backup")).ok());
  EXPECT_FALSE(fs::exists(In("backup.partial")));
  EXPECT_FALSE(fs::exists(In("backup/.unfinished-gannet-backup")));
}

TEST_F(BackupTest, AForeignFolderOfThatNameIsNotDeleted) {
  auto store = Open(In("site"));
  CrawlSample(*store, 2);
  fs::create_directories(In("backup.partial/crawl_db"));
  const absl::Status refused = store->BackUp(In("backup")).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_TRUE(fs::exists(In("backup.partial/crawl_db")));
}

TEST_F(BackupTest, AnEmptyFolderWillDoAndSoWillASlashAtTheEnd) {
  auto store = Open(In("site"));
  CrawlSample(*store, 2);
  ASSERT_TRUE(store->BackUp(In("backup/")).ok());
  fs::create_directories(In("empty"));
  const absl::Status restored = RestoreBackup(In("backup/"), In("empty/"));
  ASSERT_TRUE(restored.ok()) << restored;
  EXPECT_EQ(FailedChecks(*Open(In("empty"))), "");
  EXPECT_FALSE(fs::exists(In("empty/.restoring")));
  EXPECT_FALSE(fs::exists(In("site/.checkpoint")));
}

TEST_F(BackupTest, ARestoreThatWasCutOffIsMadeAnew) {
  auto store = Open(In("site"));
  CrawlSample(*store, 2);
  ASSERT_TRUE(store->BackUp(In("backup")).ok());
  fs::create_directories(In("new/.restoring/crawl_db"));
  fs::create_directories(In("new/archive"));
  const absl::Status restored = RestoreBackup(In("backup"), In("new"));
  ASSERT_TRUE(restored.ok()) << restored;
  EXPECT_EQ(FailedChecks(*Open(In("new"))), "");
}

// The restore was killed when the crawl DB was in its place and the work folder
// not yet removed: the site is complete, and may have crawled since.
TEST_F(BackupTest, ASiteWhoseRestoreWasCutOffAtTheEndIsNotTouchedByAnother) {
  auto store = Open(In("site"));
  CrawlSample(*store, 2);
  std::ofstream(In("site/site.yaml")) << "site:\n  name: tokyo\n";
  ASSERT_TRUE(store->BackUp(In("backup")).ok());
  ASSERT_TRUE(RestoreBackup(In("backup"), In("new")).ok());
  fs::create_directories(In("new/.restoring"));
  const absl::Status again = RestoreBackup(In("backup"), In("new"));
  EXPECT_TRUE(absl::IsInvalidArgument(again)) << again;
  EXPECT_TRUE(fs::exists(In("new/site.yaml")));
  EXPECT_FALSE(fs::exists(In("new/.restoring")));
  auto restored = Open(In("new"));
  ASSERT_NE(restored, nullptr);
  EXPECT_EQ(FailedChecks(*restored), "");
}

TEST_F(BackupTest, SettingsThatAreKeptElsewhereAreNotCopied) {
  auto store = Open(In("site"));
  CrawlSample(*store, 2);
  fs::create_symlink("/etc/hostname", In("site/site.yaml"));
  ASSERT_TRUE(store->BackUp(In("backup")).ok());
  EXPECT_FALSE(fs::exists(fs::symlink_status(In("backup/site.yaml"))));
}

}  // namespace
}  // namespace gannet::storage
