#include "federation/exchange/sent_url_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "absl/status/status.h"

namespace gannet::federation {
namespace {

using storage::PageKey;
using storage::SiteId;

constexpr SiteId kTokyo{1};
constexpr SiteId kLisbon{2};

std::vector<PageKey> Pages(int count) {
  std::vector<PageKey> pages;
  for (int i = 0; i < count; ++i) {
    pages.push_back(storage::MakePageKey(
        "a.example", "example,a,)https/page/" + std::to_string(i)));
  }
  return pages;
}

int CountSent(SentUrlCache& cache, SiteId to,
              const std::vector<PageKey>& pages) {
  int sent = 0;
  for (const PageKey& page : pages) sent += cache.Contains(to, page);
  return sent;
}

TEST(SentUrlCacheTest, KnowsOnlyWhatItWasToldToRemember) {
  SentUrlCache cache(1 << 20, 1);
  for (const PageKey& page : Pages(1000)) {
    EXPECT_FALSE(cache.Contains(kTokyo, page));
    EXPECT_FALSE(cache.Contains(kTokyo, page));  // Asking does not remember.
    cache.Remember(kTokyo, page);
    EXPECT_TRUE(cache.Contains(kTokyo, page));
  }
}

TEST(SentUrlCacheTest, WhatOneSiteHasAnotherHasNot) {
  SentUrlCache cache(1 << 20, 1);
  const std::vector<PageKey> pages = Pages(1000);
  for (const PageKey& page : pages) cache.Remember(kTokyo, page);
  EXPECT_EQ(CountSent(cache, kLisbon, pages), 0);
}

TEST(SentUrlCacheTest, AClearedSiteIsSentEverythingAgainAndOthersAreNot) {
  SentUrlCache cache(1 << 20, 1);
  const std::vector<PageKey> pages = Pages(1000);
  for (const PageKey& page : pages) {
    cache.Remember(kTokyo, page);
    cache.Remember(kLisbon, page);
  }
  cache.Clear(kTokyo);
  EXPECT_EQ(CountSent(cache, kTokyo, pages), 0);
  EXPECT_EQ(CountSent(cache, kLisbon, pages), 1000);
  for (const PageKey& page : pages) cache.Remember(kTokyo, page);
  EXPECT_EQ(CountSent(cache, kTokyo, pages), 1000);
  cache.Clear(kTokyo);  // It works a second time as well.
  EXPECT_EQ(CountSent(cache, kTokyo, pages), 0);
}

TEST(SentUrlCacheTest, ANewSaltForgetsASixteenthAndSixteenForgetAll) {
  SentUrlCache cache(1 << 20, 1);
  const std::vector<PageKey> pages = Pages(16'000);
  for (const PageKey& page : pages) cache.Remember(kTokyo, page);
  const int all = CountSent(cache, kTokyo, pages);
  EXPECT_GE(all, 15'990);
  for (size_t i = 1; i <= SentUrlCache::kSalts; ++i) {
    cache.Renew(1000 + i);
    EXPECT_NEAR(CountSent(cache, kTokyo, pages), all - 1000.0 * i, 200);
  }
  EXPECT_EQ(CountSent(cache, kTokyo, pages), 0);
}

// To find a collision takes 67 million tries, so the test forges one: it puts
// the fingerprint of a page that was never sent into the table.
TEST(SentUrlCacheTest, AFalselyKnownUrlGetsThroughWhenItsSaltIsNew) {
  for (const PageKey& never : Pages(100)) {
    SentUrlCache twin(4096, /*salt=*/1);
    twin.Remember(kTokyo, never);
    SentUrlCache cache(4096, /*salt=*/1);
    ASSERT_TRUE(cache.Restore(twin.Snapshot()).ok());
    ASSERT_TRUE(cache.Contains(kTokyo, never));
    size_t renewals = 0;
    while (cache.Contains(kTokyo, never)) {
      ASSERT_LT(renewals, SentUrlCache::kSalts);
      cache.Renew(77 + ++renewals);
    }
  }
}

TEST(SentUrlCacheTest, CachesWithOtherSaltsAreWrongAboutOtherUrls) {
  // With the same salt, two caches have the same table; with different salts
  // they have not, so that a URL that one site falsely takes for sent is sent
  // by another.
  SentUrlCache one(4096, 1), same(4096, 1), other(4096, 2);
  for (const PageKey& page : Pages(100)) {
    one.Remember(kTokyo, page);
    same.Remember(kTokyo, page);
    other.Remember(kTokyo, page);
  }
  EXPECT_EQ(one.Snapshot(), same.Snapshot());
  EXPECT_NE(one.Snapshot(), other.Snapshot());
}

TEST(SentUrlCacheTest, ASmallCacheKeepsWhatIsAskedForOften) {
  SentUrlCache cache(4096, 1);  // 1,024 URLs.
  const std::vector<PageKey> pages = Pages(100'000);
  const std::vector<PageKey> often(pages.begin(), pages.begin() + 256);
  int hits = 0;
  for (size_t i = 256; i < pages.size(); ++i) {
    const PageKey& popular = often[i % often.size()];
    if (cache.Contains(kTokyo, popular)) {
      ++hits;
    } else {
      cache.Remember(kTokyo, popular);
    }
    cache.Remember(kTokyo, pages[i]);
  }
  EXPECT_GT(hits, 0.95 * (pages.size() - 256));
}

class SnapshotTest : public ::testing::Test {
 protected:
  SnapshotTest() {
    for (const PageKey& page : pages_) {
      cache_.Remember(kTokyo, page);
      cache_.Remember(kLisbon, page);
    }
    cache_.Clear(kLisbon);
    cache_.Renew(99);
    cache_.Renew(98);
  }

  // A snapshot that cannot be restored must leave the cache like a new one.
  static void ExpectEmpty(SentUrlCache& cache,
                          const std::vector<PageKey>& pages) {
    EXPECT_EQ(CountSent(cache, kTokyo, pages), 0);
    EXPECT_EQ(cache.Snapshot(), SentUrlCache(kBytes, 5).Snapshot());
  }

  // The snapshot with its checksum made right.
  static std::string Sealed(std::string snapshot) {
    const uint64_t checksum =
        XXH3_64bits(snapshot.data() + 16, snapshot.size() - 16);
    for (int i = 0; i < 8; ++i) {
      snapshot[8 + i] = static_cast<char>(checksum >> (8 * i));
    }
    return snapshot;
  }

  static constexpr size_t kBytes = 8192;
  const std::vector<PageKey> pages_ = Pages(300);
  SentUrlCache cache_{kBytes, 1};
};

TEST_F(SnapshotTest, BringsEverythingBack) {
  const int sent = CountSent(cache_, kTokyo, pages_);
  EXPECT_GT(sent, 200);
  SentUrlCache restored(kBytes, 5);
  ASSERT_TRUE(restored.Restore(cache_.Snapshot()).ok());
  EXPECT_EQ(restored.Snapshot(), cache_.Snapshot());
  EXPECT_EQ(CountSent(restored, kTokyo, pages_), sent);
  EXPECT_EQ(CountSent(restored, kLisbon, pages_), 0);  // Cleared before.
  // It goes on like the original: the same salt is renewed next.
  restored.Renew(97);
  cache_.Renew(97);
  EXPECT_EQ(CountSent(restored, kTokyo, pages_),
            CountSent(cache_, kTokyo, pages_));
  EXPECT_EQ(restored.Snapshot(), cache_.Snapshot());
}

TEST_F(SnapshotTest, DamagedInAnyByteGivesAnEmptyCache) {
  const std::string good = cache_.Snapshot();
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    SentUrlCache restored(kBytes, 5);
    restored.Remember(kTokyo, pages_[0]);
    ASSERT_FALSE(restored.Restore(bad).ok()) << i;
    if (i % 101 == 0) ExpectEmpty(restored, pages_);
  }
}

TEST_F(SnapshotTest, CutAnywhereOrTooLongGivesAnEmptyCache) {
  const std::string good = cache_.Snapshot();
  for (size_t i = 0; i < good.size(); i += i < 300 ? 1 : 97) {
    SentUrlCache restored(kBytes, 5);
    EXPECT_FALSE(restored.Restore(good.substr(0, i)).ok()) << i;
    ExpectEmpty(restored, pages_);
    // Cut, but with a correct checksum.
    EXPECT_FALSE(i >= 16 && restored.Restore(Sealed(good.substr(0, i))).ok())
        << i;
  }
  SentUrlCache restored(kBytes, 5);
  EXPECT_FALSE(restored.Restore(Sealed(good + "more")).ok());
  ExpectEmpty(restored, pages_);
}

TEST_F(SnapshotTest, SaysWhyItCannotBeUsed) {
  using ::testing::HasSubstr;
  const std::string good = cache_.Snapshot();
  SentUrlCache restored(kBytes, 5);
  const auto status = [&](const std::string& snapshot) {
    return restored.Restore(snapshot);
  };
  EXPECT_EQ(status("").code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status("rubbish that is long enough").message()),
              HasSubstr("first bytes are wrong"));
  std::string newer = good;
  newer[4] = 2;
  EXPECT_EQ(status(newer).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status(newer).message()), HasSubstr("version 2"));
  std::string bad = good;
  bad.back() ^= 1;
  EXPECT_THAT(std::string(status(bad).message()), HasSubstr("checksum"));
  SentUrlCache larger(2 * kBytes, 5);
  EXPECT_EQ(larger.Restore(good).code(), absl::StatusCode::kFailedPrecondition);
}

// Someone who can write to the DB can also make the checksum right; even that
// must not crash the process.
TEST_F(SnapshotTest, MutatedWithARightChecksumNeverCrashes) {
  const std::string good = cache_.Snapshot();
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    for (auto n = 1 + random() % 4; n > 0; --n) {
      // Half of the changes hit the numbers at the beginning.
      bad[16 + random() % (i % 2 == 0 ? 170 : bad.size() - 16)] =
          static_cast<char>(random());
    }
    SentUrlCache restored(kBytes, 5);
    if (restored.Restore(Sealed(bad)).ok()) {
      restored.Remember(kTokyo, pages_[0]);
      EXPECT_TRUE(restored.Contains(kTokyo, pages_[0]));
      restored.Renew(1);
      restored.Clear(kTokyo);
    }
  }
}

}  // namespace
}  // namespace gannet::federation
