#include "storage/crawl_db/keys.h"

#include <gtest/gtest.h>

#include <random>

#include "storage/crawl_db/score.h"

namespace gannet::storage {
namespace {

TEST(KeysTest, APageKeyBeginsWithItsDomainsBucket) {
  const PageKey a = MakePageKey("example.com", "com,example,)http/");
  const PageKey b = MakePageKey("example.com", "com,example,www,)https/x");
  EXPECT_EQ(a.bytes[0], b.bytes[0]);
  EXPECT_EQ(SurtOf(b.bytes), "com,example,www,)https/x");
  EXPECT_EQ(HostPartOf(b.bytes).substr(1), "com,example,www,)");
}

// The bucket is on disk: this value may never change.
TEST(KeysTest, TheBucketOfADomainIsFixedForever) {
  EXPECT_EQ(BucketOf(MakePageKey("example.com", "com,example,)http/").bytes),
            139);
}

TEST(KeysTest, APagesKeyIsMadeOfItsUrl) {
  const auto url = Url::Parse("https://www.example.com:8443/a?b");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(PageKeyOf(*url),
            MakePageKey("example.com", "com,example,www,)https:8443/a?b"));
}

TEST(KeysTest, ABucketThatIsAParenthesisDoesNotEndTheHost) {
  const std::string page = ")com,example,)http/a";
  EXPECT_EQ(HostPartOf(page), ")com,example,)");
}

TEST(KeysTest, FrontierRowsGiveBackTheirPageAndStep) {
  const std::string page = MakePageKey("a.example", "example,a,)http/p").bytes;
  uint8_t step = 0;
  std::string_view active;
  const std::string row = keys::ActiveFrontier(200, page);
  ASSERT_TRUE(keys::ParseActiveFrontier(row, step, active));
  EXPECT_EQ(step, 200);
  EXPECT_EQ(active, page);
  std::string aside;
  ASSERT_TRUE(
      keys::ParseRestingFrontier(keys::RestingFrontier(7, page), step, aside));
  EXPECT_EQ(step, 7);
  EXPECT_EQ(aside, page);
  EXPECT_FALSE(keys::ParseRestingFrontier(row, step, aside));
}

TEST(KeysTest, BetterPagesStandBeforeWorseOnes) {
  EXPECT_LT(keys::ActiveFrontier(9, "z"), keys::ActiveFrontier(8, "a"));
  EXPECT_LT(keys::DeferredByCash(10, "z"), keys::DeferredByCash(9, "a"));
  EXPECT_LT(keys::ScheduledPage(1, "z"), keys::ScheduledPage(2, "a"));
}

TEST(KeysTest, DamagedRowsAreRefusedNotMisread) {
  uint8_t step = 0;
  int64_t ready_ms = 0;
  std::string_view view;
  std::string page;
  for (const char* row : {"", "a", "ax", "r", "rx", "rx,)", "h1234567"}) {
    EXPECT_FALSE(keys::ParseActiveFrontier(row, step, view)) << row;
    EXPECT_FALSE(keys::ParseRestingFrontier(row, step, page)) << row;
    EXPECT_FALSE(keys::ParseSchedule(row, ready_ms, view)) << row;
  }
}

TEST(ScoreTest, TheStepNeverFallsAsTheScoreGrows) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t score = random() >> (random() % 64);
    if (score == UINT64_MAX) continue;
    ASSERT_LE(ScoreStep(score), ScoreStep(score + 1)) << score;
  }
  EXPECT_EQ(ScoreStep(0), 0);
  EXPECT_EQ(ScoreStep(1), 1);
  EXPECT_EQ(ScoreStep(UINT64_MAX), 251);
}

TEST(ScoreTest, FourStepsDoubleTheScore) {
  for (uint64_t score = 4; score < (uint64_t{1} << 62);
       score += score / 4 + 1) {
    EXPECT_EQ(ScoreStep(2 * score), ScoreStep(score) + 4) << score;
  }
}

}  // namespace
}  // namespace gannet::storage
