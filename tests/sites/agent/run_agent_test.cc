#include "sites/agent/run_agent.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "absl/time/clock.h"

namespace gannet::sites {
namespace {

using testing::ExitedWithCode;

// A site that takes long to open.
void OpenForEver(int signal) {
  BlockAgentSignals();
  const EndOnSignals end_on_signals;
  kill(getpid(), signal);
  for (;;) absl::SleepFor(absl::Seconds(1));
}

TEST(EndOnSignalsTest, AnAgentThatIsStillOpeningItsSiteCanBeEnded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(OpenForEver(SIGTERM), ExitedWithCode(kDone), "");
  EXPECT_EXIT(OpenForEver(SIGINT), ExitedWithCode(kInterrupted), "");
}

// It is for RunAgent() to hear.
void ASignalAfterIt() {
  BlockAgentSignals();
  { const EndOnSignals end_on_signals; }
  kill(getpid(), SIGTERM);
  absl::SleepFor(absl::Milliseconds(100));
  _exit(kDone);
}

TEST(EndOnSignalsTest, OnceItIsOpenTheAgentListensItself) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ASignalAfterIt(), ExitedWithCode(kDone), "");
}

}  // namespace
}  // namespace gannet::sites
