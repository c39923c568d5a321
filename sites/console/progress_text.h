// What a person sees of a running round, as text: pure functions and a small
// state machine, so that tests can look at every frame. progress_display.h puts
// it on a terminal. Not thread-safe.
//
// On a terminal, two lines redrawn in place:
//
//   round 3  fetch     ████████████░░░░░░░░░░░░░░░░░  42 %  8,400 of 20,000
//   pages
//            210 pages/s  3.1 MB/s  12 failed  34 hosts  45 requests  55 s left
//
// Elsewhere one line at each change of phase, and one every ten seconds.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "jobs/round/progress.h"

namespace gannet::sites {

inline constexpr std::string_view kShowCursor = "\x1b[?25h";
inline constexpr std::string_view kStopping =
    "stopping: requests under way may end (Ctrl-C again: at once)";

struct TerminalStyle {
  int width = 80;
  bool color = false;
  bool unicode = false;
};

struct ProgressRate {
  double pages_per_second = 0;
  double bytes_per_second = 0;
};

// The rate of the last five seconds: short enough to show a stall, long enough
// to be read.
class RateMeter {
 public:
  ProgressRate Add(const jobs::ProgressView& view, absl::Time now);

 private:
  struct Sample {
    absl::Time time;
    int64_t pages = 0;
    int64_t bytes = 0;
  };
  uint64_t round_ = 0;
  std::deque<Sample> samples_;
};

// The live lines, none wider than the terminal.
std::vector<std::string> Render(const jobs::ProgressView& view,
                                const ProgressRate& rate, absl::Time now,
                                const TerminalStyle& style);

// The same in one line without any decoration.
std::string RenderPlain(const jobs::ProgressView& view,
                        const ProgressRate& rate, absl::Time now);

// Turns looks at the round into the bytes to write.
class ProgressPrinter {
 public:
  // Without a style: plain lines.
  explicit ProgressPrinter(std::optional<TerminalStyle> style)
      : style_(style) {}

  void SetWidth(int columns);
  // May be empty.
  std::string Next(const jobs::ProgressView& view, absl::Time now);
  // A line that stays; the live lines are drawn again below it.
  std::string Say(std::string_view line);
  // Takes the live lines away and gives the cursor back.
  std::string Finish();

 private:
  std::string Erase();

  std::optional<TerminalStyle> style_;
  RateMeter meter_;
  size_t live_lines_ = 0;
  std::optional<jobs::ProgressView> last_;
  ProgressRate last_rate_;
  absl::Time last_plain_ = absl::InfinitePast();
};

}  // namespace gannet::sites
