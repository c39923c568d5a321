#include "jobs/fetch/retry_after.h"

#include <gtest/gtest.h>

namespace gannet::jobs {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(784'111'777);

TEST(RetryAfterTest, ANumberIsSecondsFromNow) {
  EXPECT_EQ(ParseRetryAfter("120", kNow), absl::Seconds(120));
  EXPECT_EQ(ParseRetryAfter(" 0 ", kNow), absl::ZeroDuration());
}

TEST(RetryAfterTest, ADateIsTheTimeUntilThen) {
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:50:07 GMT", kNow),
            absl::Seconds(30));
  EXPECT_EQ(ParseRetryAfter("Sunday, 06-Nov-94 09:49:37 GMT", kNow),
            absl::Hours(1));
  EXPECT_EQ(ParseRetryAfter("Sun Nov  6 08:49:38 1994", kNow),
            absl::Seconds(1));
}

TEST(RetryAfterTest, ADateThatHasPassedIsNow) {
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:36 GMT", kNow),
            absl::ZeroDuration());
}

TEST(RetryAfterTest, ANumberTooLargeToReadIsForEver) {
  EXPECT_EQ(ParseRetryAfter("99999999999999999999999", kNow),
            absl::InfiniteDuration());
}

TEST(RetryAfterTest, NonsenseIsNothing) {
  for (const char* value : {"", " ", "-1", "+1", "1.5", "soon", "1 2", "0x10",
                            "120s", "Sun, 06 Nov 1994 08:50:07 PST"}) {
    EXPECT_EQ(ParseRetryAfter(value, kNow), std::nullopt) << value;
  }
}

}  // namespace
}  // namespace gannet::jobs
