// Kills a writing process at random moments, dozens of times on one folder,
// and each time opens the archive with the last state that the process could
// have committed. The "DB" is a pipe: what has been written to it survives the
// process, as a synced batch does. (SIGKILL does not lose the page cache, so no
// test here can see whether fsync really comes before the commit.)
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>

#include "storage/archive/cdxj.h"
#include "storage/archive/warc_reader.h"
#include "tests/storage/archive/archive_testing.h"
#include "tests/storage/archive/sample_pages.h"

namespace gannet::storage {
namespace {

constexpr size_t kBody = 1500;

// Small enough for many rollovers in the life of one process.
ArchiveSettings KillSettings() {
  ArchiveSettings settings = TestSettings(/*file_size=*/30000);
  settings.cdxj_memory = 2000;  // So small that the index is sorted on disk.
  return settings;
}

struct Batch {
  std::vector<std::pair<uint32_t, Position>> pages;  // Seed and position.
  ArchiveState state;
};

void WriteAll(int fd, const std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n <= 0) _exit(3);
    done += static_cast<size_t>(n);
  }
}

// One line per batch: a line without its end was not committed.
std::string Line(const Batch& batch) {
  std::string line;
  const auto put = [&line](uint64_t n) { line += std::to_string(n) + " "; };
  put(batch.pages.size());
  for (const auto& [seed, position] : batch.pages) {
    put(seed);
    put(static_cast<uint32_t>(position.file));
    put(position.offset);
    put(position.length);
  }
  put(batch.state.files.size());
  for (const auto& file : batch.state.files) {
    put(static_cast<uint32_t>(file.number));
    put(file.length);
  }
  return line + "\n";
}

Batch ParseLine(const std::string& line) {
  std::istringstream in(line);
  Batch batch;
  uint64_t count = 0;
  in >> count;
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t seed = 0, file = 0;
    Position position;
    in >> seed >> file >> position.offset >> position.length;
    position.file = FileNumber{file};
    batch.pages.emplace_back(seed, position);
  }
  in >> count;
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t number = 0;
    uint64_t length = 0;
    in >> number >> length;
    batch.state.files.push_back({FileNumber{number}, length});
  }
  return batch;
}

[[noreturn]] void Write(const std::filesystem::path& folder,
                        const ArchiveState& state, uint32_t seed, int db) {
  auto archive = Archive::Open(folder, KillSettings(), state, TestClock());
  if (!archive.ok()) {
    std::fprintf(stderr, "%s\n", archive.status().ToString().c_str());
    _exit(1);
  }
  std::mt19937 random(seed);
  for (;;) {
    Batch batch;
    for (uint32_t n = random() % 20; n > 0; --n, ++seed) {
      const SamplePage page = MakeSamplePage(seed, kBody);
      auto positions = (*archive)->Append(RecordsOf(page, TestTime()));
      if (!positions.ok()) _exit(2);
      batch.pages.emplace_back(seed, positions.value()[kSampleResponse]);
    }
    if (random() % 16 == 0) (*archive)->EndFile();
    auto synced = (*archive)->Sync();
    if (!synced.ok()) _exit(2);
    batch.state = *synced;
    WriteAll(db, Line(batch));
    if (!(*archive)->Committed(batch.state).ok()) _exit(2);
    // As at the end of a run: no batch follows, so the file must be finished
    // with the state that the DB has.
    if (random() % 8 == 0) {
      (*archive)->EndFile();
      if (!(*archive)->Committed(batch.state).ok()) _exit(2);
    }
  }
}

// Checks what `verify` would: every file is a sequence of whole records, and
// rebuilding the index of a finished file gives the same bytes.
void ExpectSoundFolder(const TestFolder& folder) {
  for (const auto& name : folder.Names(".warc.gz")) {
    std::filesystem::path cdxj = folder.path() / name;
    cdxj.replace_extension().replace_extension(".cdxj");
    const std::filesystem::path again = folder.path() / "again";
    ASSERT_TRUE(RebuildCdxj(folder.path() / name, again).ok()) << name;
    EXPECT_EQ(BytesOf(cdxj), BytesOf(again)) << name;
    std::filesystem::remove(again);
  }
  for (const auto& name : folder.Names(".open")) {
    auto reader = WarcReader::Open(folder.path() / name);
    ASSERT_TRUE(reader.ok());
    absl::StatusOr<bool> more = true;
    while (more.ok() && *more) more = (*reader)->Next();
    EXPECT_TRUE(more.ok()) << name << ": " << more.status();
  }
}

TEST(ArchiveKillTest, WhatTheDbKnowsSurvivesAnyKill) {
  constexpr int kKills = 60;
  TestFolder folder;
  std::mt19937 random(std::random_device{}());
  std::map<uint32_t, Position> known;
  ArchiveState state;
  int batches = 0;
  for (int kill_number = 0; kill_number < kKills; ++kill_number) {
    int db[2];
    ASSERT_EQ(pipe(db), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(db[0]);
      Write(folder.path(), state, static_cast<uint32_t>(kill_number) * 100000,
            db[1]);
    }
    close(db[1]);
    // Kills at a random moment after some commits: because commits are counted,
    // the test is useful on slow disks too.
    std::string committed;
    const auto read_some = [&committed, fd = db[0]] {
      char buffer[4096];
      const ssize_t n = read(fd, buffer, sizeof buffer);
      if (n > 0) committed.append(buffer, static_cast<size_t>(n));
      return n > 0;
    };
    const auto commits = static_cast<ptrdiff_t>(random() % 6);
    while (std::count(committed.begin(), committed.end(), '\n') < commits) {
      ASSERT_TRUE(read_some()) << "the writer failed by itself";
    }
    usleep(random() % 20000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    while (read_some()) {
    }
    close(db[0]);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself";

    std::istringstream lines(committed);
    for (std::string line; std::getline(lines, line) && !lines.eof();) {
      const Batch batch = ParseLine(line);
      for (const auto& [seed, position] : batch.pages) known[seed] = position;
      state = batch.state;
      ++batches;
    }
    auto archive =
        Archive::Open(folder.path(), KillSettings(), state, TestClock());
    ASSERT_TRUE(archive.ok()) << archive.status();
    if (!state.files.empty()) {
      EXPECT_EQ((*archive)->Sync().value().files.back(), state.files.back());
    }
    // All pages of the last process, and some of older ones.
    for (const auto& [seed, position] : known) {
      const bool old = seed / 100000 != static_cast<uint32_t>(kill_number);
      if (old && random() % 50 != 0) continue;
      auto record = (*archive)->Read(position);
      ASSERT_TRUE(record.ok()) << record.status();
      const SamplePage page = MakeSamplePage(seed, kBody);
      ASSERT_EQ(record->header.TargetUri(), page.url);
      ASSERT_EQ(record->block, page.head + page.body);
    }
    if (kill_number % 10 == 9) ExpectSoundFolder(folder);
  }
  // Otherwise the kills came too early to prove anything.
  EXPECT_GT(batches, kKills);
  EXPECT_GT(folder.Names(".warc.gz").size(), 5u);
  std::printf("%d kills, %d batches, %zu pages, %zu files\n", kKills, batches,
              known.size(), folder.Names(".warc.gz").size());
}

}  // namespace
}  // namespace gannet::storage
