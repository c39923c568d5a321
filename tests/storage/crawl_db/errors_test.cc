// A folder in use, a newer version, a damaged block, a full disk: a clear
// error, and nothing lost.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/small_disk.h"
#include "tests/storage/crawl_db/random_verbs.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::map<std::string, std::string> ContentOf(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files[entry.path().filename()] = ReadAll(entry.path());
    }
  }
  return files;
}

PageKey NumberedPage(int i) {
  return MakePageKey("a.example", fmt::format("example,a,)http/{:06}", i));
}

std::vector<FoundUrl> Batch(int first, int count) {
  std::vector<FoundUrl> urls;
  for (int i = 0; i < count; ++i)
    urls.push_back({NumberedPage(first + i), 1000});
  return urls;
}

TEST(CrawlDbErrorsTest, AFolderInUseIsRefusedAndTheProcessNamed) {
  TemporaryFolder folder;
  auto db = model::OpenSmallDb(folder.path());
  const auto second = CrawlDb::Open({.folder = folder.path()});
  EXPECT_TRUE(absl::IsAborted(second.status()));
  EXPECT_NE(std::string(second.status().message())
                .find(fmt::format("pid {}", getpid())),
            std::string::npos)
      << second.status();
  EXPECT_TRUE(db->incoming().Inject({NumberedPage(1)}, absl::Now()).ok());
}

TEST(CrawlDbErrorsTest, ADbOfANewerVersionIsRefusedAndLeftAsItIs) {
  TemporaryFolder folder;
  model::OpenSmallDb(folder.path());
  std::ofstream(folder.path() + "/FORMAT") << "gannet-crawl-db 2\n";
  const auto before = ContentOf(folder.path());
  const auto db = CrawlDb::Open({.folder = folder.path()});
  EXPECT_EQ(db.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(std::string(db.status().message()).find("newer Gannet (format 2"),
            std::string::npos)
      << db.status();
  EXPECT_EQ(ContentOf(folder.path()), before);
}

TEST(CrawlDbErrorsTest, ADatabaseOfAnotherProgramIsNotTouched) {
  TemporaryFolder folder;
  std::ofstream(folder.path() + "/CURRENT") << "MANIFEST-000001\n";
  const auto db = CrawlDb::Open({.folder = folder.path()});
  EXPECT_EQ(db.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(fs::exists(folder.path() + "/FORMAT"));
}

TEST(CrawlDbErrorsTest, ADamagedBlockIsReportedAndTheRestStaysReadable) {
  TemporaryFolder folder;
  constexpr int kPages = 20'000;
  ASSERT_TRUE(model::OpenSmallDb(folder.path())
                  ->incoming()
                  .PutIfAbsent(Batch(0, kPages), {})
                  .ok());
  model::OpenSmallDb(folder.path());  // Its log becomes tables here.
  // Damages the middle of the largest table, which is that of the pages.
  fs::path largest;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    if (entry.path().extension() == ".sst" &&
        (largest.empty() || entry.file_size() > fs::file_size(largest))) {
      largest = entry.path();
    }
  }
  ASSERT_FALSE(largest.empty());
  {
    std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(largest) / 2));
    file << "damage";
  }
  auto db = model::OpenSmallDb(folder.path());
  int readable = 0, damaged = 0;
  for (int i = 0; i < kPages; i += 10) {
    const auto page = db->records().GetPage(NumberedPage(i));
    readable += page.ok();
    damaged += absl::IsDataLoss(page.status());
  }
  EXPECT_GT(damaged, 0);
  EXPECT_EQ(readable + damaged, kPages / 10);
  EXPECT_GT(readable, kPages / 10 / 2);
  EXPECT_NE(
      model::FailedChecks(*db, /*full=*/true).find("the crawl DB is damaged"),
      std::string::npos);
}

// Fills a small disk, makes room again, and checks what the DB has then. Runs
// in a process of its own (small_disk.h).
std::string FillTheDisk(const std::string& disk) {
  const std::string folder = disk + "/db";
  const std::string ballast = disk + "/ballast";
  std::ofstream(ballast) << std::string(8 << 20, 'x');
  int acknowledged = 0;
  {
    auto db = model::OpenSmallDb(folder);
    absl::Status status;
    while (status.ok()) {
      status =
          db->incoming().PutIfAbsent(Batch(acknowledged, 1000), {}).status();
      if (status.ok()) acknowledged += 1000;
      if (acknowledged > 10'000'000) return "the disk is never full";
    }
    if (!absl::IsResourceExhausted(status)) return status.ToString();
    if (status.message().find("disk full") == absl::string_view::npos) {
      return "unclear: " + status.ToString();
    }
    // What is in memory may be older than what is on disk, so writing stops.
    status = db->incoming().PutIfAbsent(Batch(0, 1), {}).status();
    if (status.ok()) return "wrote after a failed write";
  }
  // Opening needs a little room too; without it, it must say so.
  if (auto full = CrawlDb::Open({.folder = folder});
      !full.ok() && !absl::IsResourceExhausted(full.status())) {
    return "opening a full disk: " + full.status().ToString();
  }
  fs::remove(ballast);
  auto db = model::OpenSmallDb(folder);
  const int64_t known = db->totals().KnownPages();
  // The failed batch is there wholly or not at all.
  if (known != acknowledged && known != acknowledged + 1000) {
    return fmt::format("{} pages, {} acknowledged", known, acknowledged);
  }
  if (const std::string failures = model::FailedChecks(*db, /*full=*/true);
      !failures.empty()) {
    return failures;
  }
  return db->incoming().PutIfAbsent(Batch(10'000'000, 1000), {}).status().ok()
             ? ""
             : "cannot go on after room was made";
}

TEST(CrawlDbErrorsTest, AFullDiskIsAClearErrorAndLosesNothing) {
  TemporaryFolder folder;
  const SmallDiskResult result = OnSmallDisk(
      24 << 20, folder.path(), [&] { return FillTheDisk(folder.path()); });
  if (!result.could_mount) GTEST_SKIP() << result.problem;
  EXPECT_EQ(result.problem, "");
}

}  // namespace
}  // namespace gannet::storage
