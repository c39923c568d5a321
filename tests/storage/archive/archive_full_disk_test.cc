// A disk that really is full (small_disk.h).
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/small_disk.h"
#include "tests/storage/archive/archive_testing.h"
#include "tests/storage/archive/sample_pages.h"

namespace gannet::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

template <typename Body>
void WithSmallDisk(const std::filesystem::path& folder, size_t bytes,
                   Body body) {
  const SmallDiskResult result = OnSmallDisk(bytes, folder, [&] {
    body();
    std::fflush(nullptr);
    return std::string(testing::Test::HasFailure() ? "see above" : "");
  });
  if (!result.could_mount) GTEST_SKIP() << result.problem;
  EXPECT_EQ(result.problem, "");
}

// Takes all the space that is left.
void Fill(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  const std::string bytes(4096, 'x');
  while (write(fd, bytes.data(), bytes.size()) > 0) {
  }
  close(fd);
}

void ExpectFull(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("disk full"));
}

absl::StatusOr<Position> AppendPage(Archive& archive, uint32_t seed,
                                    size_t body_bytes = 14000) {
  const SamplePage page = MakeSamplePage(seed, body_bytes);
  auto positions = archive.Append(RecordsOf(page, TestTime()));
  if (!positions.ok()) return positions.status();
  return (*positions)[kSampleResponse];
}

void ExpectPage(Archive& archive, const Position& position, uint32_t seed,
                size_t body_bytes = 14000) {
  const SamplePage page = MakeSamplePage(seed, body_bytes);
  auto record = archive.Read(position);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(record->block, page.head + page.body);
}

TEST(ArchiveFullDiskTest, WritingStopsWithAClearErrorAndGoesOnWithSpace) {
  TestFolder folder;
  WithSmallDisk(folder.path(), 1 << 20, [&folder] {
    auto archive =
        Archive::Open(folder.path() / "a", TestSettings(), {}, TestClock())
            .value();
    const std::filesystem::path filler = folder.path() / "filler";
    std::vector<Position> positions;
    for (uint32_t i = 0; i < 10; ++i) {
      positions.push_back(AppendPage(*archive, i).value());
    }
    const ArchiveState before = archive->Sync().value();
    Fill(filler);

    // Pending records fit into memory, but not onto the disk when synced.
    absl::Status status;
    while (status.ok()) {
      auto position = AppendPage(*archive, 100 + positions.size());
      status = position.status();
      if (status.ok()) positions.push_back(*position);
    }
    ExpectFull(status);
    ExpectFull(archive->Sync().status());
    ExpectFull(AppendPage(*archive, 1, /*body_bytes=*/20 << 20).status());
    for (uint32_t i = 0; i < 10; ++i) ExpectPage(*archive, positions[i], i);

    std::filesystem::remove(filler);
    positions.push_back(AppendPage(*archive, 100 + positions.size()).value());
    auto after = archive->Sync();
    ASSERT_TRUE(after.ok()) << after.status();
    EXPECT_GT(after->files[0].length, before.files[0].length);
    archive =
        Archive::Open(folder.path() / "a", TestSettings(), *after, TestClock())
            .value();
    for (uint32_t i = 0; i < positions.size(); ++i) {
      ExpectPage(*archive, positions[i], i < 10 ? i : 100 + i);
    }
  });
}

TEST(ArchiveFullDiskTest, HalfAGroupIsTakenBack) {
  TestFolder folder;
  WithSmallDisk(folder.path(), 1 << 20, [&folder] {
    auto archive =
        Archive::Open(folder.path(), TestSettings(), {}, TestClock()).value();
    const Position a = AppendPage(*archive, 1).value();
    const ArchiveState state = archive->Sync().value();
    // Too large to wait in memory: it is written at once, and fails halfway.
    ExpectFull(AppendPage(*archive, 2, /*body_bytes=*/20 << 20).status());
    EXPECT_EQ(archive->Sync().value(), state);
    archive->EndFile();
    ASSERT_TRUE(archive->Committed(state).ok());
    ExpectPage(*archive, a, 1);
    const auto files = archive->List().value();
    ASSERT_THAT(files, SizeIs(1));
    EXPECT_EQ(files[0].size, state.files[0].length);
  });
}

TEST(ArchiveFullDiskTest, FileThatCannotBeFinishedIsFinishedLater) {
  TestFolder folder;
  WithSmallDisk(folder.path(), 1 << 20, [&folder] {
    TestFolder* const disk = &folder;
    ArchiveSettings settings = TestSettings();
    settings.cdxj_memory = 1000;  // The sorter then writes to the full disk.
    auto archive =
        Archive::Open(folder.path(), settings, {}, TestClock()).value();
    const std::filesystem::path filler = folder.path() / "filler";
    const Position a = AppendPage(*archive, 1).value();
    const ArchiveState first = archive->Sync().value();
    Fill(filler);
    std::filesystem::resize_file(filler,
                                 std::filesystem::file_size(filler) - 65536);
    for (uint32_t i = 2; i < 10; ++i) AppendPage(*archive, i).value();
    archive->EndFile();
    const ArchiveState state = archive->Sync().value();
    Fill(filler);
    ExpectFull(archive->Committed(state));
    EXPECT_THAT(disk->Names(".warc.gz"), IsEmpty());
    EXPECT_THAT(disk->Names(".open"), SizeIs(1));
    ExpectPage(*archive, a, 1);
    ExpectFull(AppendPage(*archive, 11).status());  // No room for a new file.

    std::filesystem::remove(filler);
    EXPECT_TRUE(archive->Committed(state).ok());
    ASSERT_THAT(disk->Names(".warc.gz"), SizeIs(1));
    EXPECT_EQ(archive->List().value().at(0).captures, 9u);
    const Position b = AppendPage(*archive, 12).value();
    EXPECT_EQ(b.file, FileNumber{2});
    ExpectPage(*archive, a, 1);
    ExpectPage(*archive, b, 12);
  });
}

}  // namespace
}  // namespace gannet::storage
