#include "federation/exchange/fingerprint_table.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gannet::federation {
namespace {

constexpr size_t kSlots = FingerprintTable::kSlotsOfBucket;

// Hashes of one bucket in any table: the upper half is 0.
uint64_t InFirstBucket(uint32_t fingerprint) { return fingerprint; }

TEST(FingerprintTableTest, FindsWhatWasInsertedAndNothingElse) {
  FingerprintTable table(1 << 20);
  std::mt19937_64 random(1);
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < table.slots() / 4; ++i) hashes.push_back(random());
  for (const uint64_t hash : hashes) EXPECT_FALSE(table.Find(hash));
  for (const uint64_t hash : hashes) table.Insert(hash);
  int forgotten = 0;
  for (const uint64_t hash : hashes) forgotten += !table.Find(hash);
  EXPECT_LE(forgotten, 2);  // Only where a bucket of 16 got 17.
  table.Clear();
  for (const uint64_t hash : hashes) EXPECT_FALSE(table.Find(hash));
}

TEST(FingerprintTableTest, TakesNoMoreBytesThanItWasGiven) {
  EXPECT_EQ(FingerprintTable(3 << 20).slots() * sizeof(uint32_t),
            size_t{3} << 20);
  EXPECT_EQ(FingerprintTable(200).slots(), 3 * kSlots);
  EXPECT_EQ(FingerprintTable(0).slots(), kSlots);  // At least one bucket.
}

TEST(FingerprintTableTest, EverySlotIsUsed) {
  FingerprintTable table(100 * FingerprintTable::kBytesOfBucket);
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) table.Insert(random());
  for (const uint32_t slot : table.contents()) ASSERT_NE(slot, 0u);
}

TEST(FingerprintTableTest, AFingerprintOfZeroIsNoEmptySlot) {
  FingerprintTable table(0);
  EXPECT_FALSE(table.Find(0));
  table.Insert(0);
  EXPECT_TRUE(table.Find(0));
  table.Insert(InFirstBucket(5));
  EXPECT_TRUE(table.Find(0));
}

TEST(FingerprintTableTest, AFullBucketForgetsTheOldestThatWasNotUsed) {
  FingerprintTable table(0);
  for (uint32_t i = 10; i < 10 + kSlots; ++i) table.Insert(InFirstBucket(i));
  EXPECT_TRUE(table.Find(InFirstBucket(10)));  // Its use keeps it.
  table.Insert(InFirstBucket(100));
  std::vector<uint32_t> left;
  const FingerprintTable before = table;
  for (uint32_t i = 10; i < 10 + kSlots; ++i) {
    if (FingerprintTable(before).Find(InFirstBucket(i))) left.push_back(i);
  }
  EXPECT_EQ(left.size(), kSlots - 1);
  EXPECT_EQ(left[0], 10u);
  EXPECT_EQ(left[1], 12u);
  EXPECT_TRUE(table.Find(InFirstBucket(100)));
}

TEST(FingerprintTableTest, WhatIsUsedNoMoreLeavesInTheEnd) {
  FingerprintTable table(0);
  table.Insert(InFirstBucket(7));
  table.Find(InFirstBucket(7));
  for (uint32_t i = 0; i < 4 * kSlots; ++i) {
    table.Insert(InFirstBucket(1000 + i));
  }
  EXPECT_FALSE(table.Find(InFirstBucket(7)));
}

TEST(FingerprintTableTest, WhatIsUsedOftenOutlivesAFloodOfWhatIsNot) {
  FingerprintTable table(0);
  for (uint32_t i = 0; i < 10'000; ++i) {
    for (uint32_t often = 1; often <= 8; ++often) {
      ASSERT_TRUE(i == 0 || table.Find(InFirstBucket(often))) << i;
      table.Insert(InFirstBucket(often));
    }
    for (uint32_t once = 0; once < 8; ++once) {
      table.Insert(InFirstBucket(1000 + 8 * i + once));
    }
  }
}

TEST(FingerprintTableTest, InsertingTwiceTakesOneSlot) {
  FingerprintTable table(0);
  for (int i = 0; i < 100; ++i) table.Insert(InFirstBucket(7));
  for (uint32_t i = 1; i < kSlots; ++i) table.Insert(InFirstBucket(100 + i));
  EXPECT_TRUE(table.Find(InFirstBucket(7)));
  for (uint32_t i = 1; i < kSlots; ++i) {
    EXPECT_TRUE(table.Find(InFirstBucket(100 + i)));
  }
}

// The chance that the header states is too small to measure; with fingerprints
// of which only 14 bits are random, it must be 16 / 2^14.
TEST(FingerprintTableTest, AFalseFindHasTheChanceOfSixteenFingerprints) {
  constexpr int kRandomBits = 14;
  const auto hash = [](uint64_t random) {
    return (random >> 32 << 32) | (random & ((1u << kRandomBits) - 1)) << 9;
  };
  FingerprintTable table(64 << 10);
  std::mt19937_64 random(1);
  for (size_t i = 0; i < 10 * table.slots(); ++i) table.Insert(hash(random()));
  constexpr int kLookUps = 1'000'000;
  int found = 0;
  for (int i = 0; i < kLookUps; ++i) found += table.Find(hash(random()));
  const double chance = double{kSlots} / (1 << kRandomBits);
  EXPECT_NEAR(found / (chance * kLookUps), 1, 0.15);
}

// With all 30 bits random, 0.1 false finds are expected in this test.
TEST(FingerprintTableTest, AFalseFindIsOneInSixtySevenMillion) {
  FingerprintTable table(64 << 10);
  std::mt19937_64 random(1);
  for (size_t i = 0; i < 10 * table.slots(); ++i) table.Insert(random());
  int found = 0;
  for (int i = 0; i < 8'000'000; ++i) found += table.Find(random());
  EXPECT_LE(found, 2);
}

TEST(FingerprintTableTest, ContentsAreAllThereIs) {
  FingerprintTable table(4096);
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) table.Insert(random());
  FingerprintTable copy(4096);
  copy.Assign(table.contents());
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t hash = random() & 0xfff00000000fff;
    ASSERT_EQ(copy.Find(hash), table.Find(hash));
    table.Insert(hash);
    copy.Insert(hash);
  }
}

TEST(FingerprintTableTest, AnyContentsAreSafe) {
  FingerprintTable table(1024);
  std::mt19937_64 random(1);
  std::vector<uint32_t> contents(table.slots());
  for (int trial = 0; trial < 100; ++trial) {
    for (uint32_t& slot : contents) {
      slot = trial % 2 == 0 ? random() % 4 : random();
    }
    table.Assign(contents);
    for (int i = 0; i < 100; ++i) {
      const uint64_t hash = random();
      table.Insert(hash);
      EXPECT_TRUE(table.Find(hash));
    }
  }
}

}  // namespace
}  // namespace gannet::federation
