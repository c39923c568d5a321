#include "jobs/fetch/connect_to.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace gannet::jobs {
namespace {

using testing::HasSubstr;

Address At(std::string_view text) { return Address::Parse(text).value(); }

TEST(ConnectToTest, AnAddressIsUsedForEveryHost) {
  const ConnectTo to = ConnectTo::Parse("127.0.0.1:8080").value();
  EXPECT_FALSE(to.is_range());
  EXPECT_EQ(to.port(/*is_https=*/false), 8080);
  EXPECT_EQ(to.AddressFor("a.example"), At("127.0.0.1"));
  EXPECT_EQ(to.AddressFor("b.example"), At("127.0.0.1"));
  EXPECT_EQ(ConnectTo::Parse("[::1]:1").value().AddressFor("x"), At("::1"));
  EXPECT_FALSE(ConnectTo::Parse("10.0.0.1/32:80").value().is_range());
}

TEST(ConnectToTest, HttpsGoesToTheSecondPortOrElseToTheOnlyOne) {
  const ConnectTo two = ConnectTo::Parse("127.0.0.0/8:8080,8443").value();
  EXPECT_EQ(two.port(/*is_https=*/false), 8080);
  EXPECT_EQ(two.port(/*is_https=*/true), 8443);
  const ConnectTo one = ConnectTo::Parse("[::1]:8080").value();
  EXPECT_EQ(one.port(/*is_https=*/true), 8080);
  for (const char* bad : {"a:80,", "a:,443", "a:80,0", "a:80,443,444"}) {
    EXPECT_FALSE(ConnectTo::Parse(bad).ok()) << bad;
  }
}

TEST(ConnectToTest, ANameIsLeftToTheResolver) {
  const ConnectTo to = ConnectTo::Parse("localhost:65535").value();
  EXPECT_EQ(to.name(), "localhost");
  EXPECT_EQ(to.port(/*is_https=*/false), 65535);
  EXPECT_EQ(to.AddressFor("a.example"), std::nullopt);
}

TEST(ConnectToTest, InARangeAHostKeepsItsAddress) {
  const ConnectTo to = ConnectTo::Parse("127.0.0.0/8:8080").value();
  EXPECT_TRUE(to.is_range());
  EXPECT_EQ(to.AddressFor("a.example"), to.AddressFor("a.example"));
  EXPECT_EQ(to.AddressFor("a.example"),
            ConnectTo::Parse("127.0.0.0/8:99").value().AddressFor("a.example"));
  // Stored nowhere, but two machines of a lab must agree.
  EXPECT_EQ(to.AddressFor("a.example")->ToString(), "127.227.38.197");
}

TEST(ConnectToTest, InARangeHostsHaveAddressesOfTheirOwn) {
  for (const char* range : {"127.0.0.0/8:80", "[fd00::/64]:80", "[::/0]:80"}) {
    const ConnectTo to = ConnectTo::Parse(range).value();
    std::set<Address> addresses;
    for (int i = 0; i < 1000; ++i) {
      const auto address = to.AddressFor(fmt::format("host{}.example", i));
      ASSERT_TRUE(address.has_value());
      EXPECT_TRUE(to.range()->Contains(*address)) << address->ToString();
      addresses.insert(*address);
    }
    EXPECT_GT(addresses.size(), 995u) << range;
  }
}

TEST(ConnectToTest, NoHostGetsANetworkOrBroadcastAddress) {
  for (const int bits : {30, 29, 25, 24, 23, 20, 16, 8}) {
    const ConnectTo to =
        ConnectTo::Parse(fmt::format("10.0.0.0/{}:80", bits)).value();
    std::set<int> last_octets;
    for (int i = 0; i < 20'000; ++i) {
      const Address address = *to.AddressFor(fmt::format("h{}", i));
      ASSERT_TRUE(to.range()->Contains(address)) << address.ToString();
      ASSERT_NE(address, to.range()->first());
      ASSERT_NE(address, to.range()->last());
      last_octets.insert(address.bytes()[15]);
    }
    EXPECT_FALSE(last_octets.contains(0)) << bits;
    EXPECT_FALSE(last_octets.contains(255)) << bits;
    EXPECT_EQ(last_octets.size(), bits >= 24 ? (1u << (32 - bits)) - 2 : 254u)
        << bits << ": all others are used";
  }
}

TEST(ConnectToTest, TheSmallestRangesAreUsedWhole) {
  std::set<std::string> seen;
  const ConnectTo to = ConnectTo::Parse("10.0.0.4/31:80").value();
  for (int i = 0; i < 100; ++i) {
    seen.insert(to.AddressFor(fmt::format("h{}", i))->ToString());
  }
  EXPECT_THAT(seen, testing::ElementsAre("10.0.0.4", "10.0.0.5"));
}

TEST(ConnectToTest, WhatCannotBeReadIsRefusedWithWhatToWrite) {
  const auto error = [](std::string_view text) {
    const auto parsed = ConnectTo::Parse(text);
    EXPECT_FALSE(parsed.ok()) << text;
    return std::string(parsed.status().message());
  };
  for (const char* text :
       {"", "localhost", ":80", "a b:80", "[]:80", "[localhost]:80", "h/8:80",
        "10.0.0.0/40:80", "127.0.0.1/8:80", "-x:80", "http://a:80"}) {
    EXPECT_THAT(error(text), HasSubstr("127.0.0.0/8:8080")) << text;
  }
  for (const char* text : {"h:", "h:0", "h:65536", "h:+1", "h:8x", "h: 80",
                           "h:99999999999999999999"}) {
    EXPECT_THAT(error(text), HasSubstr("from 1 to 65535")) << text;
  }
  EXPECT_THAT(error("::1:80"), HasSubstr("needs brackets"));
}

}  // namespace
}  // namespace gannet::jobs
