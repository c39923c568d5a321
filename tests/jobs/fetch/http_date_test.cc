#include "jobs/fetch/http_date.h"

#include <gtest/gtest.h>

namespace gannet::jobs {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);  // In 2023.
const absl::Time kExample = absl::FromUnixSeconds(784'111'777);

TEST(HttpDateTest, AllThreeFormatsOfTheRfcMeanTheSameTime) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT", kNow), kExample);
  EXPECT_EQ(ParseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT", kNow), kExample);
  EXPECT_EQ(ParseHttpDate("Sun Nov  6 08:49:37 1994", kNow), kExample);
  EXPECT_EQ(ParseHttpDate("  Sun Nov 06 08:49:37 1994\t", kNow), kExample);
}

TEST(HttpDateTest, AYearOfTwoDigitsIsAtMostFiftyYearsAway) {
  const auto year = [](std::string_view digits) {
    const auto time = ParseHttpDate(
        "Sunday, 06-Nov-" + std::string(digits) + " 08:49:37 GMT", kNow);
    return absl::ToCivilYear(*time, absl::UTCTimeZone()).year();
  };
  EXPECT_EQ(year("23"), 2023);
  EXPECT_EQ(year("73"), 2073);
  EXPECT_EQ(year("74"), 1974);
}

TEST(HttpDateTest, WhatIsNoDateIsNothing) {
  for (const char* text :
       {"", "GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 30 Feb 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT+1", "Sun, 06 Now 1994 08:49:37 GMT",
        "1994-11-06T08:49:37Z", "Sun Nov  6 08:49:37", "06 Nov 1994",
        "Sun, 06 Nov 199", "Sun Nov   6 08:49:37 1994"}) {
    EXPECT_EQ(ParseHttpDate(text, kNow), std::nullopt) << text;
  }
}

TEST(HttpDateTest, ALeapSecondIsTheSecondAfter) {
  EXPECT_EQ(ParseHttpDate("Sat, 31 Dec 2016 23:59:60 GMT", kNow),
            ParseHttpDate("Sun, 01 Jan 2017 00:00:00 GMT", kNow));
}

}  // namespace
}  // namespace gannet::jobs
