#include "jobs/fetch/turns.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace gannet::jobs {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'000'000);

absl::Time At(int ms) { return kStart + absl::Milliseconds(ms); }

TEST(TurnsTest, AHostIsAskedAgainOnlyADelayAfterItsAnswer) {
  Turns turns(absl::ZeroDuration());
  const HostId host = turns.Add(absl::Milliseconds(100), At(0));
  turns.Wants(host);
  ASSERT_EQ(turns.Next(At(0)), host);
  EXPECT_EQ(turns.Next(At(1000)), std::nullopt);  // Busy.
  turns.Answered(host, At(1000));
  turns.Wants(host);
  EXPECT_EQ(turns.Next(At(1099)), std::nullopt);
  EXPECT_EQ(turns.NextTime(), At(1100));
  EXPECT_EQ(turns.Next(At(1100)), host);
}

TEST(TurnsTest, NoHostIsAskedBeforeItsEarliestTime) {
  Turns turns(absl::ZeroDuration());
  turns.Wants(turns.Add(absl::ZeroDuration(), At(50)));
  EXPECT_EQ(turns.Next(At(49)), std::nullopt);
  EXPECT_TRUE(turns.Next(At(50)).has_value());
}

TEST(TurnsTest, HostsOfOneAddressTakeTurnsADelayApart) {
  Turns turns(absl::Milliseconds(100));
  const Address shared = *Address::Parse("192.0.2.1");
  const HostId a = turns.Add(absl::Milliseconds(100), At(0));
  const HostId b = turns.Add(absl::Milliseconds(100), At(0));
  for (const HostId host : {a, b}) {
    turns.SetAddress(host, shared, At(0));
    turns.Wants(host);
  }
  ASSERT_EQ(turns.Next(At(0)), a);
  EXPECT_EQ(turns.Next(At(10)), std::nullopt);  // b's address is busy.
  turns.Answered(a, At(20));
  turns.Wants(a);
  EXPECT_EQ(turns.Next(At(119)), std::nullopt);
  EXPECT_EQ(turns.Next(At(120)), b);
  turns.Answered(b, At(130));
  EXPECT_EQ(turns.Next(At(229)), std::nullopt);
  EXPECT_EQ(turns.Next(At(230)), a);
}

TEST(TurnsTest, AHostAtRestDoesNotHoldUpItsNeighbours) {
  Turns turns(absl::Milliseconds(10));
  const Address shared = *Address::Parse("192.0.2.1");
  const HostId a = turns.Add(absl::Milliseconds(10), At(0));
  const HostId b = turns.Add(absl::Milliseconds(10), At(0));
  const HostId c = turns.Add(absl::Milliseconds(10), At(0));
  for (const HostId host : {a, b, c}) {
    turns.SetAddress(host, shared, At(0));
    turns.Wants(host);
  }
  ASSERT_EQ(turns.Next(At(0)), a);
  turns.Answered(a, At(0));
  turns.Rest(b, At(500));  // While it stands in line.
  EXPECT_EQ(turns.Next(At(10)), c);
  turns.Answered(c, At(10));
  EXPECT_EQ(turns.Next(At(499)), std::nullopt);
  EXPECT_EQ(turns.Next(At(500)), b);
}

TEST(TurnsTest, ATurnThatWasPassedCostsNoDelay) {
  Turns turns(absl::Milliseconds(100));
  const HostId a = turns.Add(absl::Milliseconds(100), At(0));
  turns.SetAddress(a, *Address::Parse("192.0.2.1"), At(0));
  turns.Wants(a);
  ASSERT_EQ(turns.Next(At(0)), a);
  turns.Passed(a);
  turns.Wants(a);
  EXPECT_EQ(turns.Next(At(0)), a);
}

// The rule itself, on random webs: whatever happens, gaps are kept and everyone
// gets all turns.
TEST(TurnsTest, RandomWebsKeepEveryDelayAndStarveNobody) {
  for (int seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const absl::Duration delay = absl::Milliseconds(20);
    Turns turns(delay);
    const int hosts = 1 + random() % 20;
    const int addresses = 1 + random() % 5;
    std::vector<int> left(hosts), address_of(hosts);
    for (int h = 0; h < hosts; ++h) {
      turns.Add(delay, At(0));
      address_of[h] = random() % addresses;
      turns.SetAddress(HostId{static_cast<uint32_t>(h)},
                       Address::FromIpv4(address_of[h]), At(0));
      left[h] = 1 + random() % 5;
      turns.Wants(HostId{static_cast<uint32_t>(h)});
    }
    std::map<int, absl::Time> host_free, address_free;
    std::multimap<absl::Time, int> answers;
    absl::Time now = At(0);
    int steps = 0;
    while (++steps < 100'000) {
      while (const std::optional<HostId> next = turns.Next(now)) {
        const int h = static_cast<int>(*next);
        const int a = address_of[h];
        if (host_free.contains(h)) {
          ASSERT_GE(now - host_free[h], delay);
        }
        if (address_free.contains(a)) {
          ASSERT_GE(now - address_free[a], delay);
        }
        host_free[h] = address_free[a] = absl::InfiniteFuture();
        answers.emplace(now + absl::Milliseconds(random() % 50), h);
      }
      const absl::Time answer =
          answers.empty() ? absl::InfiniteFuture() : answers.begin()->first;
      now = std::max(now, std::min(answer, turns.NextTime()));
      if (now == absl::InfiniteFuture()) break;
      while (!answers.empty() && answers.begin()->first <= now) {
        const int h = answers.begin()->second;
        answers.erase(answers.begin());
        turns.Answered(HostId{static_cast<uint32_t>(h)}, now);
        host_free[h] = address_free[address_of[h]] = now;
        if (random() % 10 == 0) {
          turns.Rest(HostId{static_cast<uint32_t>(h)},
                     now + absl::Milliseconds(random() % 200));
        }
        if (--left[h] > 0) turns.Wants(HostId{static_cast<uint32_t>(h)});
      }
    }
    for (int h = 0; h < hosts; ++h) ASSERT_EQ(left[h], 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace gannet::jobs
