#include "sites/console/progress_display.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>

namespace gannet::sites {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// A pseudo-terminal of 70 columns; what is written to `fd()` can be read back.
class FakeTerminal {
 public:
  FakeTerminal() : controller_(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (grantpt(controller_) != 0 || unlockpt(controller_) != 0) abort();
    terminal_ = open(ptsname(controller_), O_RDWR | O_NOCTTY);
    winsize size{};
    size.ws_col = 70;
    if (ioctl(terminal_, TIOCSWINSZ, &size) != 0) abort();
  }
  ~FakeTerminal() {
    close(terminal_);
    close(controller_);
  }
  int fd() const { return terminal_; }
  // Reads until `end` has come, at most for five seconds.
  std::string ReadUntil(std::string_view end) {
    std::string bytes;
    pollfd ready{controller_, POLLIN, 0};
    while (!bytes.ends_with(end) && poll(&ready, 1, 5000) == 1) {
      char part[4096];
      const ssize_t n = read(controller_, part, sizeof(part));
      if (n <= 0) break;
      bytes.append(part, static_cast<size_t>(n));
    }
    return bytes;
  }

 private:
  int controller_;
  int terminal_;
};

jobs::ProgressView Generating() {
  jobs::ProgressView view;
  view.round = 1;
  view.phase = proto::GENERATE;
  view.phase_started = absl::FromUnixSeconds(1);
  return view;
}

TEST(TerminalOfTest, APipeIsNoTerminal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(TerminalOf(ends[1]).has_value());
  close(ends[0]);
  close(ends[1]);
}

TEST(TerminalOfTest, ADumbTerminalGetsPlainLines) {
  FakeTerminal terminal;
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(TerminalOf(terminal.fd()).has_value());
  setenv("TERM", "xterm", 1);
  EXPECT_TRUE(TerminalOf(terminal.fd()).has_value());
}

TEST(TerminalOfTest, WidthColourAndLettersAreTheTerminals) {
  FakeTerminal terminal;
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  setenv("LC_ALL", "C.UTF-8", 1);
  EXPECT_EQ(TerminalOf(terminal.fd())->width, 70);
  EXPECT_TRUE(TerminalOf(terminal.fd())->color);
  EXPECT_TRUE(TerminalOf(terminal.fd())->unicode);
  setenv("NO_COLOR", "1", 1);
  setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(TerminalOf(terminal.fd())->color);
  EXPECT_FALSE(TerminalOf(terminal.fd())->unicode);
}

TEST(ProgressDisplayTest, ATerminalGetsItsCursorBack) {
  FakeTerminal terminal;
  setenv("TERM", "xterm", 1);
  setenv("NO_COLOR", "1", 1);
  ProgressDisplay display(Generating, storage::SystemClock(), terminal.fd());
  display.Stop();
  const std::string bytes = terminal.ReadUntil("\x1b[?25h");
  EXPECT_THAT(bytes, HasSubstr("round 1  generate"));
  EXPECT_THAT(bytes, EndsWith("\x1b[?25h"));
}

TEST(ProgressDisplayTest, APipeGetsPlainLines) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  { ProgressDisplay display(Generating, storage::SystemClock(), ends[1]); }
  close(ends[1]);
  char bytes[1000];
  const ssize_t n = read(ends[0], bytes, sizeof(bytes));
  close(ends[0]);
  EXPECT_EQ(std::string(bytes, static_cast<size_t>(std::max<ssize_t>(n, 0))),
            "round 1: generate\n");
}

TEST(ProgressDisplayTest, AStopThatWasAskedForIsSaidOnceEvenAtTheEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::atomic<bool> stopping = true;
  {
    ProgressDisplay display(Generating, storage::SystemClock(), ends[1],
                            &stopping);
  }
  close(ends[1]);
  char bytes[1000];
  const ssize_t n = read(ends[0], bytes, sizeof(bytes));
  close(ends[0]);
  EXPECT_EQ(std::string(bytes, static_cast<size_t>(std::max<ssize_t>(n, 0))),
            std::string(kStopping) + "\nround 1: generate\n");
}

TEST(ProgressDisplayTest, ProgressIsNotAskedForAfterStop) {
  std::atomic<int> looks = 0;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ProgressDisplay display(
      [&] {
        ++looks;
        return Generating();
      },
      storage::SystemClock(), ends[1]);
  display.Stop();
  const int before = looks;
  display.Stop();  // A second time is harmless.
  EXPECT_GE(before, 1);
  EXPECT_EQ(looks, before);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace gannet::sites
