#include "jobs/fetch/address_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gannet::jobs {
namespace {

using testing::HasSubstr;

Address At(std::string_view text) { return Address::Parse(text).value(); }
AddressRange Range(std::string_view text) {
  return AddressRange::Parse(text).value();
}

TEST(AddressRangeTest, HoldsFromItsFirstToItsLastAddress) {
  const AddressRange range = Range("10.1.2.0/23");
  EXPECT_EQ(range.first(), At("10.1.2.0"));
  EXPECT_EQ(range.last(), At("10.1.3.255"));
  EXPECT_TRUE(range.Contains(At("10.1.2.0")));
  EXPECT_TRUE(range.Contains(At("10.1.3.255")));
  EXPECT_FALSE(range.Contains(At("10.1.1.255")));
  EXPECT_FALSE(range.Contains(At("10.1.4.0")));
  EXPECT_EQ(range.free_bits(), 9);
  EXPECT_EQ(range.ToString(), "10.1.2.0/23");
}

TEST(AddressRangeTest, ABareAddressIsARangeOfOne) {
  for (const char* text : {"192.0.2.1", "2001:db8::1"}) {
    EXPECT_EQ(Range(text).first(), Range(text).last());
    EXPECT_EQ(Range(text).free_bits(), 0);
  }
}

TEST(AddressRangeTest, Ipv6RangesAreCounted) {
  EXPECT_EQ(Range("fd00::/65").last(), At("fd00::7fff:ffff:ffff:ffff"));
  EXPECT_EQ(Range("[fd00::]/64"), Range("fd00::/64"));
  EXPECT_EQ(Range("::ffff:10.0.0.0/104"), Range("10.0.0.0/8"));
}

TEST(AddressRangeTest, AnIpv6RangeHoldsNoIpv4Address) {
  EXPECT_FALSE(Range("::/0").Contains(At("127.0.0.1")));
  EXPECT_FALSE(Range("::/0").Contains(At("::ffff:127.0.0.1")));
  EXPECT_TRUE(Range("::/0").Contains(At("::1")));
  EXPECT_FALSE(Range("0.0.0.0/0").Contains(At("::1")));
  EXPECT_TRUE(Range("0.0.0.0/0").Contains(At("255.255.255.255")));
}

TEST(AddressRangeTest, WhatIsNoRangeIsRefusedWithWhatToWrite) {
  const auto error = [](std::string_view text) {
    return std::string(AddressRange::Parse(text).status().message());
  };
  EXPECT_THAT(error(""), HasSubstr("192.0.2.0/24"));
  EXPECT_THAT(error("localhost/8"), HasSubstr("192.0.2.0/24"));
  for (const char* text : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1",
                           "10.0.0.0/+8", "10.0.0.0/8 ", "10.0.0.0/0008"}) {
    EXPECT_THAT(error(text), HasSubstr("0 to 32")) << text;
  }
  EXPECT_THAT(error("::/129"), HasSubstr("0 to 128"));
  EXPECT_THAT(error("10.1.2.3/8"), HasSubstr("10.0.0.0/8"));
  EXPECT_THAT(error("10.1.2.3/8"), HasSubstr("write 10.0.0.0/8"));
}

}  // namespace
}  // namespace gannet::jobs
