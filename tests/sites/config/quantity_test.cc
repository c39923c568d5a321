#include "sites/config/quantity.h"

#include <gtest/gtest.h>

namespace gannet::sites {
namespace {

TEST(QuantityTest, DurationsAreReadWithTheirUnits) {
  EXPECT_EQ(ParseDuration("1s"), absl::Seconds(1));
  EXPECT_EQ(ParseDuration("500ms"), absl::Milliseconds(500));
  EXPECT_EQ(ParseDuration("30m"), absl::Minutes(30));
  EXPECT_EQ(ParseDuration("24h"), absl::Hours(24));
  EXPECT_EQ(ParseDuration("30d"), absl::Hours(24 * 30));
  EXPECT_EQ(ParseDuration("1h30m"), absl::Minutes(90));
  EXPECT_EQ(ParseDuration("0.5s"), absl::Milliseconds(500));
  EXPECT_EQ(ParseDuration("0"), absl::ZeroDuration());
}

TEST(QuantityTest, WhatIsNoDurationIsRefused) {
  for (const char* text :
       {"", "1", "s", "-1s", "1 s", "1x", "1s ", "1..5s", ".5s", "5.s", "1e3s",
        "1w", "99999999999999999999d", "999999999999d", "0s0"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(QuantityTest, SizesAreReadWithTheirUnits) {
  EXPECT_EQ(ParseSize("0"), 0u);
  EXPECT_EQ(ParseSize("1500"), 1500u);
  EXPECT_EQ(ParseSize("5MB"), 5'000'000u);
  EXPECT_EQ(ParseSize("64KiB"), 65536u);
  EXPECT_EQ(ParseSize("1GiB"), uint64_t{1} << 30);
  EXPECT_EQ(ParseSize("1.5kB"), 1500u);
}

TEST(QuantityTest, WhatIsNoSizeIsRefused) {
  for (const char* text : {"", "GiB", "1 GiB", "-1", "1gib", "1G", "0.3B",
                           "9999999TiB", "1GiB2"}) {
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
  }
}

TEST(QuantityTest, WhatIsWrittenReadsBack) {
  EXPECT_EQ(DurationText(absl::Minutes(90)), "90m");
  EXPECT_EQ(DurationText(absl::Milliseconds(1500)), "1500ms");
  EXPECT_EQ(DurationText(absl::Hours(48)), "2d");
  EXPECT_EQ(SizeText(5'000'000), "5MB");
  EXPECT_EQ(SizeText(uint64_t{1} << 30), "1GiB");
  EXPECT_EQ(SizeText(1001), "1001B");
}

}  // namespace
}  // namespace gannet::sites
