#include "sites/dashboard/cached_answer.h"

#include <gtest/gtest.h>

namespace gannet::sites {
namespace {

class CachedAnswerTest : public ::testing::Test {
 protected:
  // Asks; computing the answer takes `seconds`, and counts how often it is
  // done.
  std::string Ask(int seconds = 0) {
    auto got = cached_.Get([&]() -> absl::StatusOr<std::string> {
      now_ += absl::Seconds(seconds);
      return std::to_string(++found_out_);
    });
    return got.ok() && got->has_value() ? **got : "nothing";
  }

  absl::Time now_ = absl::FromUnixSeconds(1000000);
  int found_out_ = 0;
  CachedAnswer cached_{absl::Seconds(60), [this] { return now_; }};
};

TEST_F(CachedAnswerTest, AnAnswerIsKeptForItsTime) {
  EXPECT_EQ(Ask(), "1");
  now_ += absl::Seconds(59);
  EXPECT_EQ(Ask(), "1");
  now_ += absl::Seconds(2);
  EXPECT_EQ(Ask(), "2");
}

TEST_F(CachedAnswerTest, ASlowAnswerIsKeptAHundredTimesAsLongAsItTook) {
  EXPECT_EQ(Ask(/*seconds=*/3), "1");
  now_ += absl::Seconds(299);
  EXPECT_EQ(Ask(), "1");
  now_ += absl::Seconds(2);
  EXPECT_EQ(Ask(), "2");
}

TEST_F(CachedAnswerTest, AClockSetBackDoesNotKeepItForEver) {
  EXPECT_EQ(Ask(), "1");
  now_ -= absl::Hours(10);
  EXPECT_EQ(Ask(), "2");
}

TEST_F(CachedAnswerTest, CallersThatComeMeanwhileDoNotWait) {
  const auto outer = cached_.Get([&]() -> absl::StatusOr<std::string> {
    EXPECT_EQ(Ask(), "nothing");  // As if another thread asks.
    return "first";
  });
  EXPECT_EQ(outer.value().value(), "first");
  now_ += absl::Minutes(2);
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
