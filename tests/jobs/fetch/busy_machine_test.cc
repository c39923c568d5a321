// What keeps a busy machine from blaming healthy servers: the loop that knows
// how late it is, limits of time that are all the same, fewer connections, and
// no more of them than there are file handles.
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "absl/time/clock.h"
#include "jobs/fetch/connection_pace.h"
#include "jobs/fetch/deadline_queue.h"
#include "jobs/fetch/event_loop.h"
#include "jobs/fetch/socket_budget.h"

namespace gannet::jobs {
namespace {

const absl::Time kStart = absl::UnixEpoch();

TEST(EventLoopLagTest, TheServedClockStandsStillWhileACallbackHoldsTheLoop) {
  auto loop = EventLoop::Create(storage::SystemClock()).value();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  loop->Run(absl::ZeroDuration());
  const absl::Time served = loop->ServedNow();
  const absl::Time steady = storage::SystemClock().SteadyNow();
  const absl::Duration busy = absl::Milliseconds(300);
  loop->Watch(ends[0], EPOLLIN, [&](uint32_t) {
    loop->Forget(ends[0]);
    absl::SleepFor(busy);
  });
  loop->Run(absl::Seconds(1));
  loop->Run(absl::ZeroDuration());
  EXPECT_GE(loop->lag(), busy);
  // 20 ms of each turn are no lag.
  EXPECT_GE(loop->late(), busy - absl::Milliseconds(30));
  EXPECT_GE(storage::SystemClock().SteadyNow() - steady, busy);
  EXPECT_LT(loop->ServedNow() - served, storage::SystemClock().SteadyNow() -
                                            steady - busy +
                                            absl::Milliseconds(60));
  loop->Run(absl::ZeroDuration());
  EXPECT_LT(loop->lag(), busy);  // It has caught up.
  close(ends[0]);
  close(ends[1]);
}

TEST(EventLoopLagTest, WaitingForSocketsIsNoLag) {
  auto loop = EventLoop::Create(storage::SystemClock()).value();
  loop->Run(absl::ZeroDuration());
  const absl::Time served = loop->ServedNow();
  loop->Run(absl::Milliseconds(200));
  EXPECT_GE(loop->ServedNow() - served, absl::Milliseconds(190) - loop->late());
}

TEST(DeadlineQueueTest, WhoWasAddedFirstIsDueFirstAndRemovedOnesAreNot) {
  struct Waiting {
    DeadlineQueue<Waiting>::Place place;
  };
  Waiting a, b, c;
  DeadlineQueue<Waiting> queue;
  EXPECT_EQ(queue.NextDue(), absl::InfiniteFuture());
  queue.Add(kStart + absl::Seconds(1), &a, a.place);
  queue.Add(kStart + absl::Seconds(2), &b, b.place);
  queue.Add(kStart + absl::Seconds(2), &c, c.place);
  queue.Remove(a.place);
  queue.Remove(a.place);
  EXPECT_FALSE(a.place.is_taken());
  EXPECT_EQ(queue.NextDue(), kStart + absl::Seconds(2));
  EXPECT_EQ(queue.First(), &b);
  queue.Remove(b.place);
  EXPECT_EQ(queue.First(), &c);
  queue.Add(kStart + absl::Seconds(3), &b, b.place);
  EXPECT_EQ(queue.size(), 2u);
  queue.Remove(c.place);
  EXPECT_EQ(queue.First(), &b);
}

class ConnectionPaceTest : public testing::Test {
 protected:
  void Turns(int count, absl::Duration lag, size_t connecting) {
    for (int i = 0; i < count; ++i) {
      now_ += absl::Milliseconds(20) + lag;
      pace_.OnTurn(lag, /*active=*/connecting, connecting, is_wanted_, now_);
    }
  }

  ConnectionPace pace_{500};
  bool is_wanted_ = true;
  absl::Time now_ = kStart;
};

TEST_F(ConnectionPaceTest, ALateLoopSetsUpFewerConnections) {
  EXPECT_EQ(pace_.limit(), 500u);
  Turns(1, absl::Milliseconds(50), 400);
  EXPECT_EQ(pace_.limit(), 500u);
  Turns(2, absl::Milliseconds(300), 400);
  EXPECT_EQ(pace_.limit(), 125u);
  Turns(50, absl::Seconds(1), 400);
  EXPECT_EQ(pace_.limit(), ConnectionPace::kLeast);
  EXPECT_EQ(pace_.max_lag(), absl::Seconds(1));
  EXPECT_GT(pace_.held_back(), absl::Seconds(50));
}

TEST_F(ConnectionPaceTest, ALoopInTimeIsSoonBackAtAllOfThem) {
  Turns(50, absl::Seconds(1), 500);
  // One second, and whether or not anybody was connected: servers that stall
  // in the handshake must not hold up the others.
  Turns(50, absl::Milliseconds(1), ConnectionPace::kLeast);
  EXPECT_EQ(pace_.limit(), 500u);
}

TEST_F(ConnectionPaceTest, NobodyIsHeldBackWhereFewWantToConnect) {
  Turns(3, absl::Seconds(1), 4);
  EXPECT_EQ(pace_.held_back(), absl::ZeroDuration());
  is_wanted_ = false;
  Turns(50, absl::Seconds(1), 400);
  EXPECT_EQ(pace_.held_back(), absl::ZeroDuration());
}

TEST_F(ConnectionPaceTest, WithoutASocketThereAreAsManyAsThereAre) {
  pace_.OnNoSocket(/*active=*/40, now_);
  EXPECT_EQ(pace_.open_limit(), 40u);
  EXPECT_FALSE(pace_.MayBegin(10, 0, now_));
  now_ += ConnectionPace::kPause;
  EXPECT_TRUE(pace_.MayBegin(39, 0, now_));
  EXPECT_FALSE(pace_.MayBegin(40, 0, now_));
  Turns(1, absl::ZeroDuration(), 40);
  Turns(1, absl::ZeroDuration(), 40);
  EXPECT_GT(pace_.held_back(), absl::ZeroDuration());
  // It was a moment's shortage.
  for (int i = 0; i < 60; ++i) {
    now_ += absl::Seconds(5);
    Turns(1, absl::ZeroDuration(), 40);
  }
  EXPECT_EQ(pace_.open_limit(), 500u);
}

TEST_F(ConnectionPaceTest, ItIsHopelessOnlyIfNobodyGetsASocketForLong) {
  for (int i = 0; i < 3; ++i) {
    pace_.OnNoSocket(/*active=*/0, now_);
    EXPECT_TRUE(pace_.MayBegin(0, 0, now_ + ConnectionPace::kPause));
    EXPECT_FALSE(pace_.IsHopeless(now_));
    now_ += absl::Seconds(100);
    pace_.OnSocket();
  }
  pace_.OnNoSocket(/*active=*/0, now_);
  EXPECT_FALSE(pace_.IsHopeless(now_ + absl::Seconds(100)));
  pace_.OnNoSocket(/*active=*/0, now_ + absl::Seconds(100));
  EXPECT_TRUE(pace_.IsHopeless(now_ + absl::Seconds(120)));
}

TEST(SocketBudgetTest, ConnectionsFitIntoTheLimitOfOpenFiles) {
  const SocketBudget roomy = FitSockets(500, 4096, 65536);
  EXPECT_EQ(roomy.connections, 500u);
  EXPECT_EQ(roomy.idle, 4096u);
  const SocketBudget usual = FitSockets(500, 4096, 1024);
  EXPECT_EQ(usual.connections, 500u);
  EXPECT_EQ(usual.idle, 268u);
  const SocketBudget tight = FitSockets(500, 4096, 256);
  EXPECT_EQ(tight.connections, 56u);
  EXPECT_EQ(tight.idle, 0u);
  EXPECT_EQ(roomy.db_files, 16284u);
  EXPECT_EQ(usual.db_files, 156u);
  EXPECT_EQ(tight.db_files, 100u);
  EXPECT_EQ(FitSockets(500, 4096, 20).connections, 1u);
  EXPECT_EQ(FitSockets(100'000, 4096, 1 << 20).connections, 100'000u);
}

}  // namespace
}  // namespace gannet::jobs
