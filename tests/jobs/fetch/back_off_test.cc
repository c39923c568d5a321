#include "jobs/fetch/back_off.h"

#include <gtest/gtest.h>

#include <climits>

namespace gannet::jobs {
namespace {

constexpr absl::Duration kBase = absl::Seconds(10);
constexpr absl::Duration kCap = absl::Hours(1);
constexpr double kAlmostOne = 0.999'999'999;

TEST(BackOffTest, DoublesWithEachFailure) {
  for (const int failures : {1, 2, 3, 4}) {
    const absl::Duration longest = kBase * (1 << (failures - 1));
    EXPECT_EQ(BackOff(failures, kBase, kCap, 0), longest / 2) << failures;
    EXPECT_NEAR(
        absl::FDivDuration(BackOff(failures, kBase, kCap, kAlmostOne), longest),
        1, 1e-6);
  }
}

TEST(BackOffTest, NeverExceedsTheCapHoweverManyFailures) {
  for (const int failures : {10, 11, 100, INT_MAX}) {
    EXPECT_EQ(BackOff(failures, kBase, kCap, 0), kCap / 2) << failures;
    EXPECT_LE(BackOff(failures, kBase, kCap, kAlmostOne), kCap) << failures;
  }
  EXPECT_LE(BackOff(1, 2 * kCap, kCap, kAlmostOne), kCap);
}

TEST(BackOffTest, HostsThatFailedTogetherComeBackAtDifferentTimes) {
  EXPECT_LT(BackOff(3, kBase, kCap, 0.2), BackOff(3, kBase, kCap, 0.3));
}

TEST(BackOffTest, NothingFailedNothingWaits) {
  EXPECT_EQ(BackOff(0, kBase, kCap, 0.5), absl::ZeroDuration());
  EXPECT_EQ(BackOff(-1, kBase, kCap, 0.5), absl::ZeroDuration());
  EXPECT_EQ(BackOff(INT_MAX, absl::ZeroDuration(), kCap, 0.5),
            absl::ZeroDuration());
}

}  // namespace
}  // namespace gannet::jobs
