#include "storage/archive/cdxj_merge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void WriteIndex(const std::string& folder, int number,
                const std::vector<std::string>& lines) {
  std::ofstream out(
      fmt::format("{}/GANNET-20260101000000-{:05}-site.cdxj", folder, number));
  for (const std::string& line : lines) out << line << "\n";
}

std::optional<uint64_t> AllOfIt(FileNumber) {
  return std::numeric_limits<uint64_t>::max();
}

std::vector<std::string> Merged(const std::string& folder, size_t most = -1) {
  TemporaryFolder scratch;
  std::vector<std::string> lines;
  const absl::Status status = ForEachCdxjLine(folder, scratch.path(), AllOfIt,
                                              [&](std::string_view line) {
                                                lines.emplace_back(line);
                                                return lines.size() < most;
                                              });
  EXPECT_TRUE(status.ok()) << status;
  return lines;
}

TEST(CdxjMergeTest, AnEmptyArchiveHasNoLines) {
  TemporaryFolder folder;
  EXPECT_THAT(Merged(folder.path()), IsEmpty());
}

TEST(CdxjMergeTest, LinesOfAllFilesComeSorted) {
  TemporaryFolder folder;
  WriteIndex(folder.path(), 1, {"b 1", "d 1"});
  WriteIndex(folder.path(), 2, {"a 2", "b 0", "z 2"});
  WriteIndex(folder.path(), 3, {});
  std::ofstream(folder.path() + "/notes.txt") << "not ours\n";
  EXPECT_THAT(Merged(folder.path()),
              ElementsAre("a 2", "b 0", "b 1", "d 1", "z 2"));
  EXPECT_THAT(Merged(folder.path(), 2), ElementsAre("a 2", "b 0"));
}

TEST(CdxjMergeTest, MoreFilesThanMayBeOpenAreMergedToo) {
  TemporaryFolder folder;
  std::vector<std::string> expected;
  for (int i = 0; i < 450; ++i) {
    const std::vector<std::string> lines = {
        fmt::format("{:04} first", (i * 7919) % 1000),
        fmt::format("{:04} second", 1000 + i)};
    WriteIndex(folder.path(), i + 1, lines);
    expected.insert(expected.end(), lines.begin(), lines.end());
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(Merged(folder.path()), expected);
}

TEST(CdxjMergeTest, AnArchiveThatCannotBeReadIsAnError) {
  TemporaryFolder folder;
  EXPECT_FALSE(ForEachCdxjLine(folder.path() + "/none", folder.path(), AllOfIt,
                               [](std::string_view) { return true; })
                   .ok());
}

}  // namespace
}  // namespace gannet::storage
