#include "sites/dashboard/cached_answer.h"

#include <gtest/gtest.h>

#include "tests/simulated_clock.h"

namespace gannet::sites {
namespace {

class CachedAnswerTest : public ::testing::Test {
 protected:
  // Asks; computing the answer takes `seconds`, and counts how often it is
  // done.
  std::string Ask(int seconds = 0) {
    auto got = cached_.Get([&]() -> absl::StatusOr<std::string> {
      clock_.Advance(absl::Seconds(seconds));
      return std::to_string(++found_out_);
    });
    return got.ok() && got->has_value() ? **got : "nothing";
  }

  SimulatedClock clock_;
  int found_out_ = 0;
  CachedAnswer cached_{absl::Seconds(60), clock_};
};

TEST_F(CachedAnswerTest, AnAnswerIsKeptForItsTime) {
  EXPECT_EQ(Ask(), "1");
  clock_.Advance(absl::Seconds(59));
  EXPECT_EQ(Ask(), "1");
  clock_.Advance(absl::Seconds(2));
  EXPECT_EQ(Ask(), "2");
}

TEST_F(CachedAnswerTest, ASlowAnswerIsKeptAHundredTimesAsLongAsItTook) {
  EXPECT_EQ(Ask(/*seconds=*/3), "1");
  clock_.Advance(absl::Seconds(299));
  EXPECT_EQ(Ask(), "1");
  clock_.Advance(absl::Seconds(2));
  EXPECT_EQ(Ask(), "2");
}

TEST_F(CachedAnswerTest, AClockSetBackDoesNotKeepItForEver) {
  EXPECT_EQ(Ask(), "1");
  clock_.Jump(-absl::Hours(10));
  clock_.Advance(absl::Seconds(61));
  EXPECT_EQ(Ask(), "2");
}

TEST_F(CachedAnswerTest, CallersThatComeMeanwhileDoNotWait) {
  const auto outer = cached_.Get([&]() -> absl::StatusOr<std::string> {
    EXPECT_EQ(Ask(), "nothing");  // As if another thread asks.
    return "first";
  });
  EXPECT_EQ(outer.value().value(), "first");
  clock_.Advance(absl::Minutes(2));
  (void)cached_.Get([&]() -> absl::StatusOr<std::string> {
    EXPECT_EQ(Ask(), "first");  // The old one.
    return "second";
  });
  EXPECT_EQ(found_out_, 0);
}

TEST_F(CachedAnswerTest, AnErrorIsReturnedAndNotKept) {
  const auto got = cached_.Get([]() -> absl::StatusOr<std::string> {
    return absl::UnavailableError("not now");
  });
  EXPECT_EQ(got.status().message(), "not now");
  EXPECT_EQ(Ask(), "1");
}

}  // namespace
}  // namespace gannet::sites
