#include "sites/dashboard/rate_history.h"

#include <gtest/gtest.h>

namespace gannet::sites {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1000000);

TEST(RateHistoryTest, RatesAreDifferencesOverTime) {
  RateHistory history;
  EXPECT_TRUE(history.Rates().empty());
  history.Add({kStart, 100, 1000});
  EXPECT_TRUE(history.Rates().empty());
  history.Add({kStart + absl::Seconds(10), 150, 6000});
  history.Add({kStart + absl::Seconds(30), 150, 6000});
  const auto rates = history.Rates();
  ASSERT_EQ(rates.size(), 2u);
  EXPECT_EQ(rates[0].at, kStart + absl::Seconds(10));
  EXPECT_DOUBLE_EQ(rates[0].pages_per_second, 5);
  EXPECT_DOUBLE_EQ(rates[0].bytes_per_second, 500);
  EXPECT_DOUBLE_EQ(rates[1].pages_per_second, 0);
}

TEST(RateHistoryTest, AnHourIsKeptAndNoMore) {
  RateHistory history;
  for (int i = 0; i <= 1000; ++i) {
    history.Add({kStart + absl::Seconds(10) * i, i * 10, i});
  }
  const auto rates = history.Rates();
  EXPECT_EQ(rates.size(), 360u);
  EXPECT_EQ(rates.back().at - rates.front().at, absl::Seconds(3590));
}

TEST(RateHistoryTest, ManySamplesInAMomentDoNotGrowIt) {
  RateHistory history;
  for (int i = 0; i < 100000; ++i) {
    history.Add({kStart + absl::Milliseconds(i), i, i});
  }
  EXPECT_LT(history.Rates().size(), 5000u);
}

TEST(RateHistoryTest, ARestartIsAGapAndNotANegativeRate) {
  RateHistory history;
  history.Add({kStart, 500, 500});
  history.Add({kStart + absl::Seconds(10), 20, 20});
  history.Add({kStart + absl::Seconds(20), 30, 30});
  const auto rates = history.Rates();
  ASSERT_EQ(rates.size(), 1u);
  EXPECT_DOUBLE_EQ(rates[0].pages_per_second, 1);
}

TEST(RateHistoryTest, AClockSetBackBeginsAnew) {
  RateHistory history;
  history.Add({kStart, 1, 1});
  history.Add({kStart + absl::Seconds(10), 2, 2});
  history.Add({kStart - absl::Hours(5), 3, 3});
  EXPECT_TRUE(history.Rates().empty());
}

}  // namespace
}  // namespace gannet::sites
