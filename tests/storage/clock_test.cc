#include "storage/clock.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/simulated_clock.h"

namespace gannet::storage {
namespace {

TEST(SystemClockTest, AWaitEndsWhenItsTimeHasCome) {
  Clock& clock = SystemClock();
  Mutex mu;
  Condition changed;
  const absl::Time until = clock.SteadyNow() + absl::Milliseconds(2);
  MutexLock lock(&mu);
  while (clock.SteadyNow() < until) clock.WaitUntil(changed, &mu, until);
  clock.WaitUntil(changed, &mu, absl::InfinitePast());  // Does not block.
}

TEST(SimulatedClockTest, AWaitEndsWhenTheClockIsMovedThatFar) {
  SimulatedClock clock;
  Mutex mu;
  Condition changed;
  const absl::Time until = clock.SteadyNow() + absl::Hours(24 * 365);
  std::thread waiter([&] {
    MutexLock lock(&mu);
    while (clock.SteadyNow() < until) clock.WaitUntil(changed, &mu, until);
  });
  clock.AwaitWaiters(1);
  clock.Advance(absl::Hours(24 * 365));
  waiter.join();
}

TEST(SimulatedClockTest, WhoIsWokenIsNotTakenForOneThatWaits) {
  SimulatedClock clock;
  Mutex mu;
  Condition changed;
  bool is_told = false, has_seen = false, ends = false;
  std::thread waiter([&] {
    MutexLock lock(&mu);
    while (!ends) {
      has_seen = is_told;
      clock.WaitFor(changed, &mu, absl::Hours(1));
    }
  });
  clock.AwaitWaiters(1);
  const auto tell = [&] {
    MutexLock lock(&mu);
    is_told = true;
  };
  tell();  // Without waking it.
  clock.Settle(1);
  {
    MutexLock lock(&mu);
    EXPECT_TRUE(has_seen);
    ends = true;
  }
  clock.Advance(absl::Hours(1));
  waiter.join();
}

TEST(SimulatedClockTest, SettingTheMachinesClockMovesStoredTimesOnly) {
  SimulatedClock clock;
  const absl::Time stored = clock.Now() + absl::Minutes(10);
  const absl::Time steady = clock.SteadyNow();
  clock.Jump(absl::Minutes(4));
  EXPECT_EQ(clock.SteadyNow(), steady);
  EXPECT_EQ(clock.ToSteady(stored) - steady, absl::Minutes(6));
}

}  // namespace
}  // namespace gannet::storage
