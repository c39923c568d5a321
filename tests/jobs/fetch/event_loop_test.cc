#include "jobs/fetch/event_loop.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <thread>

#include "absl/time/clock.h"

namespace gannet::jobs {
namespace {

class EventLoopTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(pipe_), 0); }
  void TearDown() override {
    close(pipe_[0]);
    close(pipe_[1]);
  }
  void Fill() { ASSERT_EQ(write(pipe_[1], "x", 1), 1); }

  std::unique_ptr<EventLoop> loop_ =
      EventLoop::Create(storage::SystemClock()).value();
  int pipe_[2];
};

TEST_F(EventLoopTest, AWatchedDescriptorIsReportedWhenReady) {
  int calls = 0;
  loop_->Watch(pipe_[0], EPOLLIN, [&](uint32_t events) {
    EXPECT_TRUE(events & EPOLLIN);
    ++calls;
  });
  loop_->Run(absl::ZeroDuration());
  EXPECT_EQ(calls, 0);
  Fill();
  loop_->Run(absl::Seconds(10));
  EXPECT_EQ(calls, 1);
  loop_->Forget(pipe_[0]);
  loop_->Run(absl::ZeroDuration());
  EXPECT_EQ(calls, 1);
}

TEST_F(EventLoopTest, ACallbackMayForgetItself) {
  int calls = 0;
  loop_->Watch(pipe_[0], EPOLLIN, [&, keep = std::string(100, 'k')](uint32_t) {
    loop_->Forget(pipe_[0]);
    calls += static_cast<int>(keep.size());
  });
  Fill();
  loop_->Run(absl::Seconds(10));
  loop_->Run(absl::ZeroDuration());
  EXPECT_EQ(calls, 100);
}

TEST_F(EventLoopTest, WakeEndsAWaitFromAnotherThread) {
  const absl::Time start = absl::Now();
  std::thread waker([&] { loop_->Wake(); });
  loop_->Run(absl::Seconds(30));
  waker.join();
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
}

}  // namespace
}  // namespace gannet::jobs
