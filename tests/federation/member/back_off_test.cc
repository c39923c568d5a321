#include "federation/member/back_off.h"

#include <gtest/gtest.h>

namespace gannet::federation {
namespace {

TEST(BackOffTest, WaitsGrowUpToABoundAndBeginAnewAfterASuccess) {
  BackOff back_off(absl::Seconds(2), absl::Seconds(10), [] { return ~0ULL; });
  for (const int seconds : {2, 4, 8, 10, 10}) {
    EXPECT_NEAR(absl::ToDoubleSeconds(back_off.Next()), seconds, 0.001);
  }
  back_off.Reset();
  EXPECT_NEAR(absl::ToDoubleSeconds(back_off.Next()), 2, 0.001);
}

TEST(BackOffTest, ChanceShortensAWaitToHalfOfItAtMost) {
  BackOff back_off(absl::Seconds(2), absl::Seconds(10), [] { return 0; });
  for (const int seconds : {1, 2, 4, 5, 5}) {
    EXPECT_EQ(back_off.Next(), absl::Seconds(seconds));
  }
}

}  // namespace
}  // namespace gannet::federation
