#include "storage/archive/archive_meter.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

namespace fs = std::filesystem;

class ArchiveMeterTest : public testing::Test {
 protected:
  void Write(const std::string& name, size_t bytes) {
    std::ofstream(folder_.path() + "/" + name) << std::string(bytes, 'x');
  }
  void Remove(const std::string& name) {
    fs::remove(folder_.path() + "/" + name);
  }
  // Makes the folder look unchanged for so long that the meter may rely on what
  // it remembers.
  void LetTimePass() {
    fs::last_write_time(folder_.path(), fs::last_write_time(folder_.path()) -
                                            std::chrono::hours(++hours_));
  }
  std::pair<int64_t, uint64_t> MeterNow() {
    const ArchiveSize size = meter_.Measure();
    return {size.files, size.bytes};
  }

  using Size = std::pair<int64_t, uint64_t>;
  int hours_ = 0;
  TemporaryFolder folder_;
  ArchiveMeter meter_{folder_.path()};
  const std::string finished_ = "GANNET-20260101000000-00001-a.warc.gz";
  const std::string open_ = "GANNET-20260101000000-00002-a.warc.gz.open";
};

TEST_F(ArchiveMeterTest, WhatComesGrowsAndGoesIsSeen) {
  EXPECT_EQ(MeterNow(), Size(0, 0));
  Write(finished_, 100);
  Write(open_, 10);
  Write("notes.txt", 1000);
  EXPECT_EQ(MeterNow(), Size(2, 110));
  Write(open_, 20);
  EXPECT_EQ(MeterNow(), Size(2, 120));
  Remove(finished_);
  EXPECT_EQ(MeterNow(), Size(1, 20));
}

TEST_F(ArchiveMeterTest, WhatGrowsAndGoesIsSeenAfterALongTimeWithoutChanges) {
  Write(finished_, 100);
  Write(open_, 10);
  LetTimePass();
  EXPECT_EQ(MeterNow(), Size(2, 110));
  Write(open_, 20);  // Does not change the folder's time.
  EXPECT_EQ(MeterNow(), Size(2, 120));
  Remove(finished_);
  EXPECT_EQ(MeterNow(), Size(1, 20));
  LetTimePass();
  EXPECT_EQ(MeterNow(), Size(1, 20));
  Remove(open_);
  EXPECT_EQ(MeterNow(), Size(0, 0));
}

TEST_F(ArchiveMeterTest, FinishedFilesAreNotLookedAtAgain) {
  Write(finished_, 100);
  LetTimePass();
  EXPECT_EQ(MeterNow(), Size(1, 100));
  Write(finished_, 5);  // Never happens; shows that the size is remembered.
  EXPECT_EQ(MeterNow(), Size(1, 100));
}

TEST_F(ArchiveMeterTest, NoFolderIsNoArchive) {
  ArchiveMeter meter(folder_.path() + "/none");
  EXPECT_EQ(meter.Measure().files, 0);
}

}  // namespace
}  // namespace gannet::storage
