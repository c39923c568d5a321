#include "storage/site_store/site_store.h"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/storage/site_store/sample_site.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

namespace fs = std::filesystem;

class SiteStoreTest : public testing::Test {
 protected:
  std::unique_ptr<SiteStore> Open() {
    SiteStoreSettings settings;
    settings.folder = folder_.path();
    settings.create = true;
    auto store = SiteStore::Open(settings, SystemClock());
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }

  static std::string FailedChecks(SiteStore& store, bool full) {
    std::string failed;
    const auto checks = store.Verify(full);
    for (const Check& check : *checks) {
      if (!check.ok) failed += check.name + ": " + check.detail + "\n";
    }
    return failed;
  }

  fs::path OnlyWarc() {
    fs::path found;
    for (const auto& entry :
         fs::directory_iterator(folder_.path() + "/archive")) {
      if (entry.path().string().find(".warc.gz") != std::string::npos) {
        found = entry.path();
      }
    }
    return found;
  }

  TemporaryFolder folder_;
};

TEST_F(SiteStoreTest, ASiteIsMadeInAFolderOnlyIfAskedFor) {
  SiteStoreSettings settings;
  settings.folder = folder_.path();
  const auto store = SiteStore::Open(settings, SystemClock());
  EXPECT_EQ(store.status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(SiteStoreTest, CompletedPagesLeadToTheirRecordsAfterAReopen) {
  CrawlSample(*Open(), 10);
  auto store = Open();
  EXPECT_EQ(FailedChecks(*store, true), "");
  const auto record = store->crawl_db().records().GetPage(SamplePage(3));
  ASSERT_TRUE(record.ok());
  const auto read = store->archive().Read({FileNumber{record->archive().file()},
                                           record->archive().offset(),
                                           record->archive().length()});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_NE(read->block.find(SampleUrl(3)), std::string::npos);
}

TEST_F(SiteStoreTest, WhatWasArchivedButNotCompletedIsCutOffOnStart) {
  CrawlSample(*Open(), 10);
  const uint64_t committed = fs::file_size(OnlyWarc());
  {
    auto store = Open();
    NewRecord lost;
    lost.url = "http://lost.example/";
    lost.head = "HTTP/1.1 200 OK\r\n\r\n";
    lost.payload = "never completed";
    ASSERT_TRUE(store->archive().Append({lost}).ok());
    ASSERT_TRUE(store->archive().Sync().ok());
    ASSERT_GT(fs::file_size(OnlyWarc()), committed);
  }
  auto store = Open();
  EXPECT_EQ(fs::file_size(OnlyWarc()), committed);
  EXPECT_EQ(FailedChecks(*store, true), "");
}

TEST_F(SiteStoreTest, CommitsFromManyThreadsLeaveTheArchivesFullLength) {
  auto store = Open();
  CrawlSample(*store, 2);  // Page 1 stays in the open round.
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&store, t] {
      for (int i = 0; i < 10; ++i) {
        NewRecord record;
        const std::string url = SampleUrl(100 * t + i);
        record.url = url;
        record.head = "HTTP/1.1 200 OK\r\n\r\n";
        EXPECT_TRUE(store->archive().Append({record}).ok());
        EXPECT_TRUE(store->Complete({}, {}).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto state = store->crawl_db().records().archive_state();
  EXPECT_EQ(state->open(state->open_size() - 1).length(),
            fs::file_size(OnlyWarc()));
}

// The pages are on the disk by then; the file is finished by a later commit.
TEST_F(SiteStoreTest, AFileThatCannotBeFinishedYetDoesNotFailTheCommit) {
  auto store = Open();
  CrawlSample(*store, 4);
  store->archive().EndFile();
  // A folder where its index should go: finishing fails, as on a full disk.
  const fs::path index = fs::path(OnlyWarc())
                             .replace_extension()
                             .replace_extension()
                             .replace_extension()
                             .string() +
                         ".cdxj";
  fs::create_directory(index);
  const auto completed = store->Complete({}, {});
  EXPECT_TRUE(completed.ok()) << completed.status();
  EXPECT_EQ(OnlyWarc().extension(), ".open");
  fs::remove(index);
  ASSERT_TRUE(store->Complete({}, {}).ok());
  EXPECT_EQ(OnlyWarc().extension(), ".gz");
  EXPECT_EQ(FailedChecks(*store, true), "");
}

TEST_F(SiteStoreTest, ADamagedArchiveBreaksI2AndThePagesAreNamed) {
  CrawlSample(*Open(), 10);
  {
    std::fstream file(OnlyWarc(),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(OnlyWarc()) / 2));
    file << "damage";
  }
  auto store = Open();
  const std::string failed = FailedChecks(*store, true);
  EXPECT_NE(failed.find("I2 archive positions"), std::string::npos) << failed;
  EXPECT_NE(failed.find(")http/page-"), std::string::npos) << failed;
}

// Counts how often a file is opened, by inotify. The kernel merges an event
// with an equal one before it: two opens without a close between them count as
// one.
class OpenCount {
 public:
  explicit OpenCount(const fs::path& file) {
    EXPECT_GE(
        inotify_add_watch(fd_.get(), file.c_str(), IN_OPEN | IN_CLOSE_NOWRITE),
        0);
  }
  int Take() {
    int opens = 0;
    alignas(inotify_event) char buffer[4096];
    for (ssize_t n; (n = read(fd_.get(), buffer, sizeof buffer)) > 0;) {
      const auto count = static_cast<size_t>(n) / sizeof(inotify_event);
      const auto* events = reinterpret_cast<const inotify_event*>(buffer);
      opens += static_cast<int>(std::count_if(
          events, events + count,
          [](const inotify_event& e) { return e.mask & IN_OPEN; }));
    }
    return opens;
  }

 private:
  Fd fd_{inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
};

// 'gannet verify' and a peer's 'federation verify' read every page, so two at
// once would be too much load.
TEST_F(SiteStoreTest, OneVerificationRunsAtATime) {
  auto store = Open();
  CrawlSample(*store, 1000);
  ASSERT_TRUE(store->FinishArchiveFile().ok());
  OpenCount opens(OnlyWarc());
  EXPECT_EQ(FailedChecks(*store, true), "");
  const int of_one = opens.Take();
  ASSERT_GE(of_one, 100);
  constexpr int kTimes = 20;
  const auto verify = [&] {
    for (int i = 0; i < kTimes; ++i) EXPECT_EQ(FailedChecks(*store, true), "");
  };
  std::thread other(verify);
  verify();
  other.join();
  EXPECT_EQ(opens.Take(), 2 * kTimes * of_one);
}

TEST_F(SiteStoreTest, APositionOfAnotherUrlBreaksI2) {
  CrawlSample(*Open(), 10);
  auto store = Open();
  // Page 9 is still in the open round: complete it with page 0's position.
  Completion wrong;
  wrong.page = SamplePage(9);
  wrong.outcome = *store->crawl_db().records().GetPage(SamplePage(0));
  ASSERT_EQ(*store->Complete({wrong}, {}), 1);
  EXPECT_NE(FailedChecks(*store, false).find("another URL"), std::string::npos);
}

}  // namespace
}  // namespace gannet::storage
