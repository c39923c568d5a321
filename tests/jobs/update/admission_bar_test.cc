#include "jobs/update/admission_bar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace gannet::jobs {
namespace {

TEST(AdmissionBarTest, WithRoomForAllNothingIsAsked) {
  AdmissionBar bar(3);
  for (const int64_t cash : {0, 5, 5}) bar.Add(cash);
  const AdmissionBar::Height height = bar.Find();
  EXPECT_EQ(height.least_cash, 0);
  EXPECT_GT(height.ties, 3);
}

TEST(AdmissionBarTest, WithoutPlacesNothingGetsIn) {
  for (const int64_t places : {0, -4}) {
    AdmissionBar bar(places);
    bar.Add(int64_t{1} << 60);
    const AdmissionBar::Height height = bar.Find();
    EXPECT_EQ(height.least_cash, std::numeric_limits<int64_t>::max());
    EXPECT_EQ(height.ties, 0);
  }
}

// There are many more targets than places, and many ties.
TEST(AdmissionBarTest, ExactlyAsManyPassAsThereArePlaces) {
  std::mt19937 random(11);
  for (const int64_t different : {1, 3, 100, 1'000'000}) {
    for (const int64_t places : {1, 2, 700, 4000}) {
      std::vector<int64_t> all(5000);
      for (int64_t& cash : all) {
        cash = static_cast<int64_t>(random()) % different;
      }
      AdmissionBar bar(places);
      for (const int64_t cash : all) bar.Add(cash);
      const AdmissionBar::Height height = bar.Find();
      std::sort(all.rbegin(), all.rend());
      EXPECT_EQ(height.least_cash, all[places - 1]);
      const auto more = std::count_if(all.begin(), all.end(), [&](int64_t c) {
        return c > height.least_cash;
      });
      EXPECT_EQ(more + height.ties, places);
    }
  }
}

}  // namespace
}  // namespace gannet::jobs
