// What every OrderedStore promises, tested with each engine; and that the store
// in memory, which the crash tests use, gives what RocksDB gives.
#include "storage/engine/ordered_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "storage/engine/count.h"
#include "storage/engine/memory_store.h"
#include "storage/engine/rocks_store.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Rows = std::vector<std::pair<std::string, std::string>>;

enum class Column : size_t { kPlain, kCounters };

std::vector<ColumnTraits> TestColumns() {
  return {
      {.name = "plain", .is_queue = true},
      {.name = "counters", .looks_up_absent_keys = true, .has_counters = true}};
}

// An engine that can be closed and opened again.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::unique_ptr<OrderedStore> Open() = 0;
};

class RocksEngine : public Engine {
 public:
  std::unique_ptr<OrderedStore> Open() override {
    return OpenRocksStore(
               folder_.path(), TestColumns(),
               {.block_cache_bytes = 1 << 20, .write_buffer_bytes = 1 << 20})
        .value();
  }

 private:
  TemporaryFolder folder_;
};

class MemoryEngine : public Engine {
 public:
  std::unique_ptr<OrderedStore> Open() override { return disk_.Open(); }

 private:
  MemoryDisk disk_{TestColumns().size()};
};

Rows RowsOf(OrderedStore& store, Column column, const KeyRange& range = {},
            const ReadOptions& options = {}) {
  Rows rows;
  const absl::Status read = ForEachRow(
      store, column, range,
      [&](std::string_view key, std::string_view value) {
        rows.emplace_back(key, value);
        return true;
      },
      options);
  EXPECT_TRUE(read.ok()) << read;
  return rows;
}

void Put(OrderedStore& store, std::string_view key, std::string_view value) {
  Batch batch;
  batch.Put(Column::kPlain, key, value);
  ASSERT_TRUE(store.Write(batch).ok());
}

class OrderedStoreTest : public testing::TestWithParam<std::string> {
 protected:
  OrderedStoreTest() {
    if (GetParam() == "rocks") {
      engine_ = std::make_unique<RocksEngine>();
    } else {
      engine_ = std::make_unique<MemoryEngine>();
    }
    store_ = engine_->Open();
  }
  void OpenAgain() {
    store_.reset();
    store_ = engine_->Open();
  }

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<OrderedStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Engines, OrderedStoreTest,
                         testing::Values("rocks", "memory"),
                         [](const auto& info) { return info.param; });

TEST_P(OrderedStoreTest, ABatchIsThereWholeAfterItWasOpenedAgain) {
  Batch batch;
  batch.Put(Column::kPlain, "a", "1");
  batch.Put(Column::kPlain, "b", "");
  batch.Put(Column::kPlain, std::string("c\0d", 3), std::string("\0\xff", 2));
  batch.AddCount(Column::kCounters, "n", 5);
  ASSERT_TRUE(store_->Write(batch).ok());
  OpenAgain();
  EXPECT_THAT(
      RowsOf(*store_, Column::kPlain),
      ElementsAre(std::pair("a", "1"), std::pair("b", ""),
                  std::pair(std::string("c\0d", 3), std::string("\0\xff", 2))));
  EXPECT_EQ(DecodeCount(store_->Get(Column::kCounters, "n").value()), 5);
}

TEST_P(OrderedStoreTest, AnAbsentRowIsNotFound) {
  Put(*store_, "b", "2");
  EXPECT_TRUE(absl::IsNotFound(store_->Get(Column::kPlain, "a").status()));
  const auto rows = store_->MultiGet(Column::kPlain, {"a", "b", "c"}).value();
  EXPECT_THAT(rows, ElementsAre(std::nullopt, std::optional<std::string>("2"),
                                std::nullopt));
}

TEST_P(OrderedStoreTest, WritesOfABatchCountInTheirOrder) {
  Batch batch;
  batch.Put(Column::kPlain, "a", "1");
  batch.Put(Column::kPlain, "b", "1");
  batch.DeleteRange(Column::kPlain, "a", "b");
  batch.Put(Column::kPlain, "a", "2");
  batch.Delete(Column::kPlain, "b");
  ASSERT_TRUE(store_->Write(batch).ok());
  EXPECT_THAT(RowsOf(*store_, Column::kPlain),
              ElementsAre(std::pair("a", "2")));
}

TEST_P(OrderedStoreTest, CountsAddUpAndBeginAtZero) {
  for (int64_t change : {1, 41, -50}) {
    Batch batch;
    batch.AddCount(Column::kCounters, "n", change);
    ASSERT_TRUE(store_->Write(batch).ok());
  }
  EXPECT_EQ(DecodeCount(store_->Get(Column::kCounters, "n").value()), -8);
  Batch batch;
  batch.Delete(Column::kCounters, "n");
  batch.AddCount(Column::kCounters, "n", 3);
  ASSERT_TRUE(store_->Write(batch).ok());
  EXPECT_EQ(DecodeCount(store_->Get(Column::kCounters, "n").value()), 3);
}

TEST_P(OrderedStoreTest, ACursorSeesOnlyItsRange) {
  for (const char* key : {"a", "ba", "bb", "bc", "c"}) Put(*store_, key, "");
  const auto row = store_->NewCursor(Column::kPlain, PrefixRange("b"));
  EXPECT_FALSE(row->Valid());
  row->Seek("a");  // Before the range: its first row.
  ASSERT_TRUE(row->Valid());
  EXPECT_EQ(row->key(), "ba");
  row->Seek("bb\x01");
  EXPECT_EQ(row->key(), "bc");
  row->Next();
  EXPECT_FALSE(row->Valid());
  EXPECT_TRUE(row->status().ok());
  row->Seek("bb");  // Backwards.
  EXPECT_EQ(row->key(), "bb");
}

TEST_P(OrderedStoreTest, ACursorSeesTheRowsAsTheyWereWhenItWasMade) {
  Put(*store_, "a", "1");
  const auto row = store_->NewCursor(Column::kPlain, {});
  Put(*store_, "a", "2");
  Put(*store_, "b", "2");
  row->Seek("");
  EXPECT_EQ(row->value(), "1");
  row->Next();
  EXPECT_FALSE(row->Valid());
}

TEST_P(OrderedStoreTest, ASnapshotStaysAsItWas) {
  Put(*store_, "a", "1");
  const auto before = store_->TakeSnapshot();
  Batch batch;
  batch.Put(Column::kPlain, "a", "2");
  batch.AddCount(Column::kCounters, "n", 1);
  ASSERT_TRUE(store_->Write(batch).ok());
  const auto after = store_->TakeSnapshot();
  EXPECT_LT(before->number(), after->number());
  EXPECT_EQ(store_->Get(Column::kPlain, "a", before.get()).value(), "1");
  EXPECT_EQ(store_->Get(Column::kPlain, "a", after.get()).value(), "2");
  EXPECT_THAT(RowsOf(*store_, Column::kCounters, {}, {.at = before.get()}),
              IsEmpty());
  EXPECT_THAT(store_->MultiGet(Column::kPlain, {"a"}, before.get()).value(),
              ElementsAre(std::optional<std::string>("1")));
}

// Writes down each call as a line.
class Notes : public Batch::Visitor {
 public:
  void Put(ColumnId column, std::string_view key, std::string_view) override {
    Add('p', column, key);
  }
  void Delete(ColumnId column, std::string_view key) override {
    Add('d', column, key);
  }
  void DeleteRange(ColumnId column, std::string_view from,
                   std::string_view to) override {
    Add('r', column, std::string(from) + "-" + std::string(to));
  }
  void AddCount(ColumnId column, std::string_view key,
                int64_t change) override {
    Add('c', column, std::string(key) + "+" + std::to_string(change));
  }
  std::vector<std::string> lines;

 private:
  void Add(char kind, ColumnId column, std::string_view what) {
    lines.push_back(std::string(1, kind) + std::to_string(column.index) + " " +
                    std::string(what));
  }
};

TEST_P(OrderedStoreTest, WhatChangedBetweenTwoSnapshotsIsKnown) {
  Put(*store_, "before", "");
  const auto since = store_->TakeSnapshot();
  Batch batch;
  batch.Put(Column::kPlain, "a", "1");
  batch.Delete(Column::kPlain, "b");
  batch.DeleteRange(Column::kPlain, "c", "d");
  batch.AddCount(Column::kCounters, "n", 7);
  ASSERT_TRUE(store_->Write(batch).ok());
  const auto until = store_->TakeSnapshot();
  Put(*store_, "behind", "");
  Notes notes;
  int batches = 0;
  const absl::Status read =
      store_->ForEachChange(since->number(), until->number(), notes, [&] {
        ++batches;
        return absl::OkStatus();
      });
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(batches, 1);
  EXPECT_THAT(notes.lines, ElementsAre("p0 a", "d0 b", "r0 c-d", "c1 n+7"));
  // Between a snapshot and itself nothing changed.
  Notes none;
  EXPECT_TRUE(store_
                  ->ForEachChange(until->number(), until->number(), none,
                                  [] { return absl::OkStatus(); })
                  .ok());
  EXPECT_THAT(none.lines, IsEmpty());
}

TEST_P(OrderedStoreTest, AReaderOfChangesMayStop) {
  const auto since = store_->TakeSnapshot();
  Put(*store_, "a", "");
  Put(*store_, "b", "");
  const auto until = store_->TakeSnapshot();
  Notes notes;
  const absl::Status read =
      store_->ForEachChange(since->number(), until->number(), notes,
                            [] { return absl::CancelledError("enough"); });
  EXPECT_TRUE(absl::IsCancelled(read));
  EXPECT_THAT(notes.lines, ElementsAre("p0 a"));
}

TEST(PrefixRangeTest, ItsEndIsTheFirstKeyAfterAllOfThePrefix) {
  EXPECT_EQ(PrefixRange("ab").to, "ac");
  EXPECT_EQ(PrefixRange("a\xff").to, "b");
  EXPECT_EQ(PrefixRange("\xff").to, "");
  EXPECT_EQ(PrefixRange("").to, "");
}

TEST(MemoryStoreTest, RandomBatchesLeaveWhatTheyLeaveInRocksDb) {
  RocksEngine rocks_engine;
  MemoryEngine memory_engine;
  auto rocks = rocks_engine.Open();
  auto memory = memory_engine.Open();
  std::mt19937 random(7);
  const auto key = [&] { return std::string(1, "abcdefgh"[random() % 8]); };
  for (int i = 0; i < 3000; ++i) {
    Batch batch;
    std::string from, to;
    for (auto n = random() % 6; n > 0; --n) {
      switch (random() % 5) {
        case 0:
          batch.Delete(Column::kPlain, key());
          break;
        case 1:
          std::tie(from, to) = std::minmax({key(), key()});
          batch.DeleteRange(Column::kPlain, from, to);
          break;
        case 2:
          batch.AddCount(Column::kCounters, key(), random() % 100);
          break;
        default:
          batch.Put(Column::kPlain, key(), std::to_string(i));
      }
    }
    ASSERT_TRUE(rocks->Write(batch).ok());
    ASSERT_TRUE(memory->Write(batch).ok());
    if (i % 100 == 0) rocks.reset(), rocks = rocks_engine.Open();
    for (Column column : {Column::kPlain, Column::kCounters}) {
      ASSERT_EQ(RowsOf(*rocks, column), RowsOf(*memory, column)) << i;
    }
  }
}

TEST(MemoryStoreTest, APowerCutTakesWhatWasNotSyncedFromTheEnd) {
  MemoryDisk disk(2);
  auto store = disk.Open();
  Put(*store, "a", "synced");
  Put(*store, "b", "synced");
  ASSERT_TRUE(store->Sync().ok());
  Put(*store, "a", "kept");
  Batch batch;
  batch.DeleteRange(Column::kPlain, "a", "c");
  batch.Put(Column::kPlain, "d", "lost");
  batch.AddCount(Column::kCounters, "n", 1);
  ASSERT_TRUE(store->Write(batch).ok());
  EXPECT_EQ(disk.unsynced_batches(), 2u);
  store.reset();
  disk.CutPower(/*kept=*/1);
  EXPECT_EQ(disk.unsynced_batches(), 0u);
  store = disk.Open();
  EXPECT_THAT(RowsOf(*store, Column::kPlain),
              ElementsAre(std::pair("a", "kept"), std::pair("b", "synced")));
  EXPECT_THAT(RowsOf(*store, Column::kCounters), IsEmpty());
}

TEST(MemoryStoreTest, AKilledProcessLosesNothing) {
  MemoryDisk disk(2);
  auto store = disk.Open();
  Put(*store, "a", "1");
  store.reset();
  store = disk.Open();
  EXPECT_EQ(store->Get(Column::kPlain, "a").value(), "1");
}

TEST(MemoryStoreTest, ADiskThatRefusesWritesTakesNothing) {
  MemoryDisk disk(2);
  const auto store = disk.Open();
  disk.FailWritesWith(absl::ResourceExhaustedError("disk full"));
  Batch batch;
  batch.Put(Column::kPlain, "a", "1");
  EXPECT_TRUE(absl::IsResourceExhausted(store->Write(batch)));
  EXPECT_TRUE(absl::IsResourceExhausted(store->Sync()));
  disk.FailWritesWith(absl::OkStatus());
  EXPECT_THAT(RowsOf(*store, Column::kPlain), IsEmpty());
  EXPECT_TRUE(store->Write(batch).ok());
}

}  // namespace
}  // namespace gannet::storage
