#include "jobs/fetch/token_bucket.h"

#include <gtest/gtest.h>

namespace gannet::jobs {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

TEST(TokenBucketTest, StartsFullAndThenEarnsAtItsRate) {
  TokenBucket bucket(/*per_second=*/10, /*burst=*/3);
  absl::Time now = kStart;
  int taken = 0;
  while (bucket.TakeToken(now)) ++taken;
  EXPECT_EQ(taken, 3);
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(bucket.TakeToken(now));
    EXPECT_NEAR(absl::ToDoubleSeconds(bucket.NextToken(now) - now), 0.1, 1e-4);
    now = bucket.NextToken(now);
    EXPECT_TRUE(bucket.TakeToken(now));
  }
}

TEST(TokenBucketTest, IdleTimeEarnsNoMoreThanTheBurst) {
  TokenBucket bucket(10, 3);
  bucket.TakeToken(kStart);
  int taken = 0;
  while (bucket.TakeToken(kStart + absl::Hours(5))) ++taken;
  EXPECT_EQ(taken, 3);
}

TEST(TokenBucketTest, WithoutARateThereIsNoLimit) {
  TokenBucket bucket(0, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(bucket.TakeToken(kStart));
  EXPECT_EQ(bucket.NextToken(kStart), kStart);
}

TEST(TokenBucketTest, AClockSetBackDoesNotStopIt) {
  TokenBucket bucket(10, 1);
  EXPECT_TRUE(bucket.TakeToken(kStart));
  const absl::Time back = kStart - absl::Hours(1);
  EXPECT_FALSE(bucket.TakeToken(back));
  EXPECT_TRUE(bucket.TakeToken(back + absl::Milliseconds(101)));
}

}  // namespace
}  // namespace gannet::jobs
