#include "storage/archive/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "storage/archive/cdxj.h"
#include "storage/archive/outlinks.h"
#include "storage/archive/warc_reader.h"
#include "tests/storage/archive/archive_testing.h"
#include "tests/storage/archive/sample_pages.h"

namespace gannet::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::StatusCode kDataLoss = absl::StatusCode::kDataLoss;
constexpr absl::StatusCode kNotFound = absl::StatusCode::kNotFound;
constexpr absl::StatusCode kFailedPrecondition =
    absl::StatusCode::kFailedPrecondition;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

class ArchiveTest : public testing::Test {
 protected:
  void OpenArchive(const ArchiveState& state = {},
                   uint64_t file_size = 1 << 30) {
    archive_ = nullptr;
    auto opened = Archive::Open(folder_.path(), TestSettings(file_size), state,
                                TestClock());
    ASSERT_TRUE(opened.ok()) << opened.status();
    archive_ = *std::move(opened);
  }

  // Returns the response's position.
  Position AppendPage(uint32_t seed, size_t body_bytes = 2000) {
    const SamplePage page = MakeSamplePage(seed, body_bytes);
    auto positions = archive_->Append(RecordsOf(page, TestTime()));
    EXPECT_TRUE(positions.ok()) << positions.status();
    return positions.value()[kSampleResponse];
  }

  ArchiveState SyncAndCommit() {
    auto state = archive_->Sync();
    EXPECT_TRUE(state.ok()) << state.status();
    EXPECT_TRUE(archive_->Committed(*state).ok());
    return *state;
  }

  void ExpectPage(const Position& position, uint32_t seed,
                  size_t body_bytes = 2000) {
    const SamplePage page = MakeSamplePage(seed, body_bytes);
    auto record = archive_->Read(position);
    ASSERT_TRUE(record.ok()) << record.status();
    EXPECT_EQ(record->header.type, RecordType::kResponse);
    EXPECT_EQ(record->header.TargetUri(), page.url);
    EXPECT_EQ(record->block, page.head + page.body);
    auto outlinks = archive_->ReadOutlinks(position);
    ASSERT_TRUE(outlinks.ok()) << outlinks.status();
    EXPECT_EQ(*outlinks, ParseOutlinks(page.outlinks));
  }

  absl::Status OpenStatus(const ArchiveState& state) {
    archive_ = nullptr;
    return Archive::Open(folder_.path(), TestSettings(), state, TestClock())
        .status();
  }

  TestFolder folder_;
  std::unique_ptr<Archive> archive_;
};

TEST_F(ArchiveTest, WhatIsAppendedCanBeReadAtOnce) {
  OpenArchive();
  const Position a = AppendPage(1), b = AppendPage(2);
  EXPECT_EQ(a.file, FileNumber{1});
  ExpectPage(a, 1);
  ExpectPage(b, 2);
  EXPECT_THAT(folder_.Names(""),
              ElementsAre("TEST-20260131235959-00001-new-york.warc.gz.open"));
}

TEST_F(ArchiveTest, FileBeginsWithWarcinfo) {
  OpenArchive();
  AppendPage(1);
  SyncAndCommit();
  auto reader = WarcReader::Open(folder_.path() / folder_.Names(".open")[0]);
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE((*reader)->Next().value());
  EXPECT_EQ((*reader)->header().type, RecordType::kWarcinfo);
  EXPECT_EQ((*reader)->header().Get("WARC-Filename"),
            "TEST-20260131235959-00001-new-york.warc.gz");
  EXPECT_THAT((*reader)->ReadWholeBlock().value(),
              HasSubstr("software: gannet\r\n"));
}

TEST_F(ArchiveTest, PageWithoutMetadataHasNoOutlinks) {
  OpenArchive();
  const SamplePage page = MakeSamplePage(1);
  std::vector<NewRecord> records = RecordsOf(page, TestTime());
  records.resize(2);
  const Position alone = archive_->Append(records).value()[kSampleResponse];
  EXPECT_EQ(archive_->ReadOutlinks(alone).status().code(), kNotFound);
  AppendPage(2);  // The records that follow are another page's.
  EXPECT_EQ(archive_->ReadOutlinks(alone).status().code(), kNotFound);
}

TEST_F(ArchiveTest, AWalkFindsOutlinksAndTargetsOfRedirects) {
  OpenArchive();
  const auto response = [&](std::string_view url, const std::string& head) {
    const NewRecord record{.url = url,
                           .date = TestTime(),
                           .head = head,
                           .payload = "<a href='/not-read'>here</a>"};
    ASSERT_TRUE(archive_->Append(absl::MakeConstSpan(&record, 1)).ok());
  };
  AppendPage(1);
  response("http://a.example/",
           "HTTP/1.1 301 Moved\r\nlocation: ../b?c\r\n\r\n");
  response("http://b.example/", "HTTP/1.1 307 Away\r\n\r\n");
  // A Location without a redirect means nothing.
  response("http://c.example/", "HTTP/1.1 201 Made\r\nLocation: /new\r\n\r\n");
  SyncAndCommit();  // A walk sees what is in the file.
  std::vector<PageLinks> walked;
  const auto walk = [&](size_t most) {
    walked.clear();
    EXPECT_TRUE(archive_
                    ->ForEachOutlinks(
                        [&](const PageLinks& page) {
                          walked.push_back(page);
                          return walked.size() < most;
                        },
                        [](const absl::Status& s) { ADD_FAILURE() << s; })
                    .ok());
  };
  walk(10);
  ASSERT_EQ(walked.size(), 2u);
  const SamplePage page = MakeSamplePage(1, 2000);
  EXPECT_EQ(walked[0].url, page.url);
  EXPECT_FALSE(walked[0].has_moved);
  EXPECT_EQ(walked[0].links, ParseOutlinks(page.outlinks));
  EXPECT_EQ(walked[1].url, "http://a.example/");
  EXPECT_TRUE(walked[1].has_moved);
  EXPECT_EQ(walked[1].links, std::vector<std::string>{"../b?c"});
  walk(1);
  EXPECT_EQ(walked.size(), 1u);
}

TEST_F(ArchiveTest, AWalkGoesOnBehindAFileThatIsDamaged) {
  OpenArchive({}, /*file_size=*/20000);
  uint32_t pages = 0;
  while (AppendPage(++pages).file == FileNumber{1}) {
  }
  ASSERT_TRUE(archive_->Committed(archive_->Sync().value()).ok());
  const auto path =
      folder_.path() / "TEST-20260131235959-00001-new-york.warc.gz";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
  file.write("damaged!damaged!", 16);
  file.close();
  std::set<std::string> urls;
  int damages = 0;
  ASSERT_TRUE(archive_
                  ->ForEachOutlinks(
                      [&](const PageLinks& page) {
                        urls.insert(page.url);
                        return true;
                      },
                      [&](const absl::Status& s) {
                        ++damages;
                        EXPECT_THAT(std::string(s.message()),
                                    HasSubstr("00001"));
                      })
                  .ok());
  EXPECT_EQ(damages, 1);
  EXPECT_THAT(urls, testing::Contains(MakeSamplePage(1, 2000).url));
  EXPECT_THAT(urls, testing::Contains(MakeSamplePage(pages, 2000).url));
  EXPECT_LT(urls.size(), pages);
}

TEST_F(ArchiveTest, AWalkReportsAFileThatIsMissingAndGoesOn) {
  OpenArchive({}, /*file_size=*/20000);
  uint32_t pages = 0;
  while (AppendPage(++pages).file == FileNumber{1}) {
  }
  ASSERT_TRUE(archive_->Committed(archive_->Sync().value()).ok());
  std::filesystem::remove(folder_.path() /
                          "TEST-20260131235959-00001-new-york.warc.gz");
  std::set<std::string> urls;
  std::vector<std::string> damages;
  const absl::Status walked = archive_->ForEachOutlinks(
      [&](const PageLinks& page) {
        urls.insert(page.url);
        return true;
      },
      [&](const absl::Status& s) { damages.emplace_back(s.message()); });
  EXPECT_TRUE(walked.ok()) << walked;
  EXPECT_THAT(damages, ElementsAre(HasSubstr("00001 is missing")));
  EXPECT_THAT(urls, testing::ElementsAre(MakeSamplePage(pages, 2000).url));
}

TEST_F(ArchiveTest, FullFileIsFinishedOnceTheDbKnowsItsEnd) {
  OpenArchive({}, /*file_size=*/20000);
  std::vector<Position> positions;
  uint32_t pages = 0;
  while (pages == 0 || positions.back().file == FileNumber{1}) {
    positions.push_back(AppendPage(++pages));
  }
  EXPECT_THAT(folder_.Names(".open"), SizeIs(2));
  const ArchiveState state = archive_->Sync().value();
  EXPECT_THAT(state.files, SizeIs(2));
  EXPECT_THAT(folder_.Names(".open"), SizeIs(2));  // Not committed yet.
  ASSERT_TRUE(archive_->Committed(state).ok());
  EXPECT_THAT(folder_.Names(""),
              ElementsAre("TEST-20260131235959-00001-new-york.cdxj",
                          "TEST-20260131235959-00001-new-york.warc.gz",
                          "TEST-20260131235959-00002-new-york.warc.gz.open"));
  for (uint32_t i = 0; i < pages; ++i) ExpectPage(positions[i], i + 1);
  // The next state has the open file only.
  EXPECT_THAT(archive_->Sync().value().files, ElementsAre(state.files[1]));
}

TEST_F(ArchiveTest, StateOfAnOlderSyncDoesNotFinishAFileThatGrewSince) {
  OpenArchive();
  AppendPage(1);
  const ArchiveState old = archive_->Sync().value();
  AppendPage(2);
  archive_->EndFile();
  ASSERT_TRUE(archive_->Committed(old).ok());
  EXPECT_THAT(folder_.Names(".open"), SizeIs(1));
  SyncAndCommit();
  EXPECT_THAT(folder_.Names(".open"), IsEmpty());
}

TEST_F(ArchiveTest, IndexIsSortedAndRebuildsToTheSameBytes) {
  OpenArchive();
  for (uint32_t i = 0; i < 300; ++i) AppendPage(i, 500);
  NewRecord revisit{
      .type = RecordType::kRevisit,
      .url = "http://host1.example/again",
      .date = TestTime(),
      .head = "HTTP/1.1 304 Not Modified\r\n\r\n",
      .revisit = RevisitOf{RevisitOf::Profile::kServerNotModified,
                           "http://host1.example/again", TestTime()}};
  ASSERT_TRUE(archive_->Append({revisit}).ok());
  // A hostile record, whose HTTP head has no end.
  NewRecord strange{.type = RecordType::kResponse,
                    .url = "http://h/\r\n\"\\\xff",
                    .date = TestTime(),
                    .head = "HTTP/1.1 200\r\nContent-Type: te",
                    .payload = "xt/plain\r\n\r\nabc"};
  ASSERT_TRUE(archive_->Append({strange}).ok());
  archive_->EndFile();
  SyncAndCommit();
  const std::filesystem::path cdxj =
      folder_.path() / folder_.Names(".cdxj").at(0);
  const std::string bytes = BytesOf(cdxj);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), '\n'), 302);
  std::vector<std::string> lines;
  std::istringstream in(bytes);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
  EXPECT_THAT(bytes,
              HasSubstr("\"mime\": \"warc/revisit\", \"status\": \"304\""));

  const std::filesystem::path again = folder_.path() / "again.cdxj";
  const std::filesystem::path warc =
      folder_.path() / folder_.Names(".warc.gz").at(0);
  for (const size_t memory : {size_t{2000}, size_t{1} << 20}) {
    ASSERT_TRUE(RebuildCdxj(warc, again, memory).ok());
    EXPECT_EQ(BytesOf(again), bytes);
  }
}

TEST_F(ArchiveTest, FileFinishedAfterARestartHasTheWholeIndex) {
  OpenArchive();
  AppendPage(1);
  const ArchiveState state = SyncAndCommit();
  OpenArchive(state);
  AppendPage(2);
  archive_->EndFile();
  SyncAndCommit();
  EXPECT_THAT(archive_->List().value(), SizeIs(1));
  EXPECT_EQ(archive_->List().value()[0].captures, 2u);
}

TEST_F(ArchiveTest, UncommittedTailIsCutAndTheFileGoesOn) {
  OpenArchive();
  const Position a = AppendPage(1);
  const ArchiveState state = SyncAndCommit();
  const Position lost = AppendPage(2);
  ASSERT_TRUE(archive_->Sync().ok());  // On disk, but not in the DB.
  OpenArchive(state);
  EXPECT_EQ(
      std::filesystem::file_size(folder_.path() / folder_.Names(".open").at(0)),
      state.files.at(0).length);
  ExpectPage(a, 1);
  EXPECT_EQ(archive_->Read(lost).status().code(), kDataLoss);
  const Position b = AppendPage(3);
  EXPECT_EQ(b.file, FileNumber{1});
  ExpectPage(a, 1);
  ExpectPage(b, 3);
}

TEST_F(ArchiveTest, FilesBegunSinceTheLastCommitAreRemoved) {
  OpenArchive({}, /*file_size=*/5000);
  const Position a = AppendPage(1);
  const ArchiveState state = SyncAndCommit();
  for (uint32_t i = 2; i < 20; ++i) AppendPage(i);
  ASSERT_TRUE(archive_->Sync().ok());
  EXPECT_GT(folder_.Names(".open").size(), 3u);
  OpenArchive(state, 5000);
  EXPECT_THAT(folder_.Names(""),
              ElementsAre("TEST-20260131235959-00001-new-york.warc.gz.open"));
  ExpectPage(a, 1);
}

TEST_F(ArchiveTest, CrashBeforeTheFirstCommitLeavesNothing) {
  OpenArchive();
  AppendPage(1);
  ASSERT_TRUE(archive_->Sync().ok());
  OpenArchive({});
  EXPECT_THAT(folder_.Names(""), IsEmpty());
  EXPECT_EQ(AppendPage(1).file, FileNumber{1});
}

// Crash points of finishing: see storage/archive/README.md.
TEST_F(ArchiveTest, FinishingAFileIsResumedWhereverItStopped) {
  for (const char* point : {"before", "temporary", "index", "renamed"}) {
    SCOPED_TRACE(point);
    std::filesystem::remove_all(folder_.path());
    OpenArchive({}, /*file_size=*/5000);
    const Position a = AppendPage(1);
    const Position b = AppendPage(2), c = AppendPage(3), d = AppendPage(4);
    ASSERT_EQ(a.file, c.file);
    ASSERT_NE(a.file, d.file);
    const ArchiveState state = archive_->Sync().value();
    archive_ = nullptr;
    const std::filesystem::path open =
        folder_.path() / folder_.Names(".open").at(0);
    std::filesystem::path finished = open;
    finished.replace_extension();
    std::filesystem::path cdxj = finished;
    cdxj.replace_extension().replace_extension(".cdxj");
    if (point == std::string("temporary")) {
      WriteBytes(cdxj.native() + ".tmp", "half a line");
      WriteBytes(cdxj.native() + ".run0.tmp", "half a line");
    } else if (point == std::string("index")) {
      WriteBytes(cdxj, "old\n");
    } else if (point == std::string("renamed")) {
      // Even if the index is lost: the disk may write in any order.
      std::filesystem::rename(open, finished);
    }
    OpenArchive(state, 5000);
    EXPECT_TRUE(std::filesystem::exists(finished));
    EXPECT_FALSE(std::filesystem::exists(open));
    EXPECT_THAT(folder_.Names(".tmp"), IsEmpty());
    EXPECT_EQ(archive_->List().value().at(0).captures, 3u);
    ExpectPage(a, 1);
    ExpectPage(b, 2);
    ExpectPage(c, 3);
    ExpectPage(d, 4);
  }
}

TEST_F(ArchiveTest, NumbersGoOnWhenAllFilesAreFinished) {
  OpenArchive();
  const Position a = AppendPage(1);
  archive_->EndFile();
  const ArchiveState state = SyncAndCommit();
  EXPECT_EQ(archive_->Sync().value(), state);  // Still names the newest.
  OpenArchive(state);
  EXPECT_EQ(AppendPage(2).file, FileNumber{2});
  OpenArchive(state);  // The new file was not committed.
  EXPECT_THAT(folder_.Names(".open"), IsEmpty());
  ExpectPage(a, 1);
}

TEST_F(ArchiveTest, FileEndedAfterTheLastBatchIsFinishedWithoutAnother) {
  OpenArchive();
  const Position a = AppendPage(1);
  const ArchiveState state = SyncAndCommit();
  archive_->EndFile();
  ASSERT_TRUE(archive_->Committed(state).ok());
  EXPECT_THAT(folder_.Names(""),
              ElementsAre("TEST-20260131235959-00001-new-york.cdxj",
                          "TEST-20260131235959-00001-new-york.warc.gz"));
  ASSERT_TRUE(archive_->Release(a.file, {}).ok());
  OpenArchive(state);  // The newest file that it names was released, not lost.
  EXPECT_EQ(archive_->Read(a).status().code(), kNotFound);
  const Position b = AppendPage(2);
  EXPECT_EQ(b.file, FileNumber{2});
  OpenArchive(SyncAndCommit());
  ExpectPage(b, 2);
}

TEST_F(ArchiveTest, FileWithAnUncommittedTailIsNotFinishedByAnOlderState) {
  OpenArchive();
  const Position a = AppendPage(1);
  const ArchiveState state = SyncAndCommit();
  AppendPage(2);
  archive_->EndFile();
  ASSERT_TRUE(archive_->Committed(state).ok());
  EXPECT_THAT(folder_.Names(".warc.gz"), IsEmpty());
  OpenArchive(state);  // As after a kill: the tail is cut, the file goes on.
  ExpectPage(a, 1);
  EXPECT_EQ(AppendPage(3).file, FileNumber{1});
}

TEST_F(ArchiveTest, StrangeFolderIsRefusedAndLeftAlone) {
  OpenArchive({}, /*file_size=*/5000);
  AppendPage(1);
  const ArchiveState early = SyncAndCommit();
  for (uint32_t i = 2; i < 10; ++i) AppendPage(i);
  archive_->EndFile();
  SyncAndCommit();
  const auto names = folder_.Names("");
  // The DB was restored from a backup, or knows nothing of the archive.
  EXPECT_EQ(OpenStatus(early).code(), kFailedPrecondition);
  EXPECT_EQ(OpenStatus({}).code(), kFailedPrecondition);
  EXPECT_EQ(folder_.Names(""), names);
}

TEST_F(ArchiveTest, LostBytesAreDataLoss) {
  OpenArchive();
  AppendPage(1);
  ArchiveState state = SyncAndCommit();
  state.files[0].length += 1;
  EXPECT_EQ(OpenStatus(state).code(), kDataLoss);
  state.files[0].number = FileNumber{2};
  state.files.insert(state.files.begin(), {FileNumber{1}, 10});
  EXPECT_EQ(OpenStatus(state).code(), kDataLoss);
}

TEST_F(ArchiveTest, ForeignFilesInTheFolderAreNotTouched) {
  WriteBytes(folder_.path() / "notes.txt", "x");
  WriteBytes(folder_.path() / "other-site.warc.gz", "x");
  WriteBytes(folder_.path() / "x.open", "x");
  OpenArchive();
  AppendPage(1);
  OpenArchive();
  EXPECT_THAT(folder_.Names(""),
              ElementsAre("notes.txt", "other-site.warc.gz", "x.open"));
}

TEST_F(ArchiveTest, ReleasedIsToldFromLost) {
  OpenArchive();
  const Position a = AppendPage(1);
  archive_->EndFile();
  SyncAndCommit();
  const Position b = AppendPage(2);
  archive_->EndFile();
  SyncAndCommit();
  const Position c = AppendPage(3);
  const ArchiveState state = SyncAndCommit();
  EXPECT_EQ(archive_->Release(c.file, {}).code(), kFailedPrecondition);
  TestFolder taken;
  ASSERT_TRUE(archive_->Release(a.file, taken.path()).ok());
  EXPECT_THAT(taken.Names(""),
              ElementsAre("TEST-20260131235959-00001-new-york.warc.gz"));
  EXPECT_EQ(archive_->Release(a.file, {}).code(), kNotFound);
  std::filesystem::remove(folder_.path() /
                          folder_.Names("02-new-york.warc.gz").at(0));

  for (int restarts = 0; restarts < 2; ++restarts) {
    EXPECT_EQ(archive_->Read(a).status().code(), kNotFound);
    EXPECT_THAT(Message(archive_->Read(a).status()), HasSubstr("released"));
    EXPECT_EQ(archive_->Read(b).status().code(), kDataLoss);
    EXPECT_THAT(Message(archive_->Read(b).status()), HasSubstr("missing"));
    ExpectPage(c, 3);
    OpenArchive(state);
  }
  const auto files = archive_->List().value();
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_TRUE(files[0].released);
  EXPECT_EQ(files[0].captures, 1u);  // Its index stayed.
}

TEST_F(ArchiveTest, ReleaseThatFailsOrIsCutOffDidNotHappen) {
  OpenArchive();
  const Position a = AppendPage(1);
  archive_->EndFile();
  const ArchiveState state = SyncAndCommit();
  EXPECT_FALSE(archive_->Release(a.file, "/nowhere/at/all").ok());
  EXPECT_THAT(folder_.Names(".released"), IsEmpty());
  ExpectPage(a, 1);
  WriteBytes(folder_.path() / "TEST-20260131235959-00001-new-york.released",
             "");
  OpenArchive(state);
  EXPECT_THAT(folder_.Names(".released"), IsEmpty());
  ExpectPage(a, 1);
}

TEST_F(ArchiveTest, ListTellsSizeCapturesAndDates) {
  OpenArchive();
  for (int day : {3, 1, 2}) {
    const SamplePage page = MakeSamplePage(static_cast<uint32_t>(day), 100);
    ASSERT_TRUE(
        archive_->Append(RecordsOf(page, TestTime() + absl::Hours(24 * day)))
            .ok());
  }
  EXPECT_THAT(archive_->List().value(), IsEmpty());
  archive_->EndFile();
  const ArchiveState state = SyncAndCommit();
  const auto files = archive_->List().value();
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_EQ(files[0].name, "TEST-20260131235959-00001-new-york.warc.gz");
  EXPECT_EQ(files[0].size, state.files[0].length);
  EXPECT_EQ(files[0].captures, 3u);
  EXPECT_EQ(files[0].first_date, "20260201235959");
  EXPECT_EQ(files[0].last_date, "20260203235959");
}

TEST_F(ArchiveTest, WrongPositionIsDataLoss) {
  OpenArchive();
  Position a = AppendPage(1);
  AppendPage(2);
  for (const Position& bad : {Position{a.file, a.offset + 1, a.length},
                              Position{a.file, a.offset, a.length + 1},
                              Position{a.file, uint64_t{1} << 40, 10},
                              Position{FileNumber{9}, 0, 10}}) {
    EXPECT_EQ(archive_->Read(bad).status().code(), kDataLoss);
  }
}

TEST_F(ArchiveTest, LittleFreeSpaceStopsWritingBeforeTheDiskIsFull) {
  ArchiveSettings settings = TestSettings();
  settings.min_free = uint64_t{1} << 60;
  archive_ = Archive::Open(folder_.path(), settings, {}, TestClock()).value();
  const SamplePage page = MakeSamplePage(1);
  const absl::Status status =
      archive_->Append(RecordsOf(page, TestTime())).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(status), HasSubstr("disk full"));
}

TEST_F(ArchiveTest, BadSettingsAreRefused) {
  for (const char* prefix : {"", "a-b", "a/b", "../x"}) {
    ArchiveSettings settings = TestSettings();
    settings.prefix = prefix;
    EXPECT_EQ(Archive::Open(folder_.path(), settings, {}, TestClock())
                  .status()
                  .code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(ArchiveTest, ManyThreadsWriteSyncAndReadTogether) {
  OpenArchive({}, /*file_size=*/50000);
  constexpr int kThreads = 4, kEach = 100;
  std::vector<std::vector<Position>> positions(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t, &positions] {
      for (int i = 0; i < kEach; ++i) {
        positions[t].push_back(
            AppendPage(static_cast<uint32_t>(t * kEach + i)));
        if (i % 10 == 0) {
          ExpectPage(positions[t][i / 2],
                     static_cast<uint32_t>(t * kEach + i / 2));
        }
      }
    });
  }
  std::thread committer([this] {
    for (int i = 0; i < 20; ++i) SyncAndCommit();
  });
  for (auto& thread : threads) thread.join();
  committer.join();
  const ArchiveState state = SyncAndCommit();
  OpenArchive(state, 50000);
  std::set<std::pair<FileNumber, uint64_t>> places;
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kEach; ++i) {
      ExpectPage(positions[t][i], static_cast<uint32_t>(t * kEach + i));
      places.insert({positions[t][i].file, positions[t][i].offset});
    }
  }
  EXPECT_THAT(places, SizeIs(kThreads * kEach));
}

}  // namespace
}  // namespace gannet::storage
