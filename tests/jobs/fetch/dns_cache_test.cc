#include "jobs/fetch/dns_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gannet::jobs {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);
const std::vector<Address> kOne = {Address::FromIpv4(1)};

TEST(DnsCacheTest, AnswersUntilItsTimeIsOver) {
  DnsCache cache(10);
  cache.Put("a", kOne, kStart + absl::Seconds(30));
  ASSERT_NE(cache.Find("a", kStart + absl::Seconds(29)), nullptr);
  EXPECT_EQ(**cache.Find("a", kStart), kOne);
  EXPECT_EQ(cache.Find("a", kStart + absl::Seconds(30)), nullptr);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(DnsCacheTest, FullItForgetsTheNameNotUsedForTheLongestTime) {
  DnsCache cache(3);
  const absl::Time until = kStart + absl::Hours(1);
  for (const char* host : {"a", "b", "c"}) cache.Put(host, kOne, until);
  EXPECT_NE(cache.Find("a", kStart), nullptr);
  cache.Put("d", kOne, until);
  EXPECT_NE(cache.Find("a", kStart), nullptr);
  EXPECT_EQ(cache.Find("b", kStart), nullptr);
  EXPECT_NE(cache.Find("c", kStart), nullptr);
  EXPECT_NE(cache.Find("d", kStart), nullptr);
}

TEST(DnsCacheTest, ANewAnswerReplacesTheOldOne) {
  DnsCache cache(1);
  cache.Put("a", kOne, kStart + absl::Hours(1));
  cache.Put("a", absl::NotFoundError("gone"), kStart + absl::Hours(2));
  ASSERT_NE(cache.Find("a", kStart + absl::Minutes(90)), nullptr);
  EXPECT_FALSE(cache.Find("a", kStart)->ok());
  EXPECT_EQ(cache.size(), 1u);
}

TEST(DnsCacheTest, NeverHoldsMoreThanItMay) {
  for (const size_t most : {0, 1, 7}) {
    DnsCache cache(most);
    for (int i = 0; i < 100; ++i) {
      cache.Put(fmt::format("h{}", i % 20), kOne, kStart + absl::Hours(1));
      EXPECT_LE(cache.size(), most);
    }
  }
}

}  // namespace
}  // namespace gannet::jobs
