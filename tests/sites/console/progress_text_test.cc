#include "sites/console/progress_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

jobs::ProgressView Fetching() {
  jobs::ProgressView view;
  view.round = 3;
  view.phase = proto::FETCH;
  view.phase_started = kNow - absl::Seconds(40);
  view.round_started = kNow - absl::Seconds(41);
  view.planned = 20'000;
  view.counts.fetched = 8'000;
  view.counts.moved = 300;
  view.counts.failed = 12;
  view.counts.released = 88;
  view.bytes = 120'000'000;
  view.hosts_active = 34;
  view.connections = 45;
  return view;
}

TEST(ProgressTextTest, AFetchingRoundShowsHowFarItIsAndWhenItEnds) {
  EXPECT_THAT(
      Render(Fetching(), {210, 3'100'000}, kNow, {.width = 80}),
      ElementsAre("round 3  fetch     ############..................   42 %  "
                  "8,400 of 20,000 pages",
                  "         210 pages/s  3.1 MB/s  12 failed  34 hosts  45 "
                  "requests  55 s left"));
}

TEST(ProgressTextTest, NoLineIsWiderThanTheTerminal) {
  for (int width = 1; width < 200; ++width) {
    for (bool unicode : {false, true}) {
      for (const std::string& line :
           Render(Fetching(), {210, 3'100'000}, kNow,
                  {.width = width, .color = false, .unicode = unicode})) {
        EXPECT_LT(DisplayWidth(line), static_cast<size_t>(width));
      }
    }
  }
}

TEST(ProgressTextTest, ANarrowTerminalGetsNoBarButTheNumbers) {
  EXPECT_THAT(Render(Fetching(), {}, kNow, {.width = 50})[0],
              "round 3  fetch      42 %  8,400 of 20,000 pages");
}

TEST(ProgressTextTest, ColoursAreOnlyWhereTheyAreWanted) {
  EXPECT_THAT(Render(Fetching(), {}, kNow, {.width = 80, .color = true})[1],
              HasSubstr("\x1b[31m12 failed\x1b[0m"));
  for (const std::string& line : Render(Fetching(), {}, kNow, {.width = 80})) {
    EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  }
}

TEST(ProgressTextTest, TheTimeLimitEndsARoundToo) {
  jobs::ProgressView view = Fetching();
  view.deadline = kNow + absl::Seconds(20);
  EXPECT_THAT(Render(view, {210, 0}, kNow, {.width = 100})[1],
              EndsWith("20 s left"));
  EXPECT_THAT(Render(view, {0, 0}, kNow, {.width = 100})[1],
              EndsWith("20 s left"));
  // If the time limit is far away, it gives no estimate before a page is done.
  view.deadline = kNow + absl::Minutes(30);
  EXPECT_THAT(Render(view, {0, 0}, kNow, {.width = 100})[1],
              EndsWith("45 requests"));
}

TEST(ProgressTextTest, BetweenRoundsItSaysWhatItWaitsFor) {
  jobs::ProgressView view;
  view.waiting_until = kNow + absl::Seconds(90);
  EXPECT_EQ(RenderPlain(view, {}, kNow),
            "waiting: the next page that failed is tried again in 1 min 30 s");
  ProgressPrinter printer(TerminalStyle{.width = 100});
  EXPECT_THAT(printer.Next(view, kNow), HasSubstr("waiting  the next page"));
}

TEST(ProgressTextTest, AnUpdateCountsLinks) {
  jobs::ProgressView view = Fetching();
  view.phase = proto::UPDATE;
  view.phase_started = kNow - absl::Seconds(2);
  view.targets = 1000;
  view.settled = 250;
  EXPECT_THAT(Render(view, {}, kNow, {.width = 60, .unicode = true}),
              ElementsAre("round 3  update    ███░░░░░░░░░░   25 %  250 of "
                          "1,000 links",
                          "         2.0 s"));
}

TEST(ProgressTextTest, APhaseOfUnknownLengthShowsItsTime) {
  jobs::ProgressView view;
  view.round = 1;
  view.phase = proto::GENERATE;
  view.phase_started = kNow - absl::Milliseconds(300);
  EXPECT_THAT(Render(view, {}, kNow, {.width = 60}),
              ElementsAre("round 1  generate  300 ms", ""));
}

TEST(ProgressTextTest, MoreDoneThanPlannedIsNotMoreThanAll) {
  jobs::ProgressView view = Fetching();
  view.planned = 10;
  EXPECT_THAT(Render(view, {1, 0}, kNow, {.width = 80})[0], HasSubstr("100 %"));
  EXPECT_THAT(Render(view, {1, 0}, kNow, {.width = 100})[1],
              EndsWith("0 ms left"));
}

TEST(RateMeterTest, TheRateIsThatOfTheLastFiveSeconds) {
  RateMeter meter;
  jobs::ProgressView view;
  view.round = 1;
  EXPECT_EQ(meter.Add(view, kNow).pages_per_second, 0);
  // Ten seconds at 100 pages per second, then five without any.
  for (int i = 1; i <= 10; ++i) {
    view.counts.fetched = 100 * i;
    view.bytes = 5000 * i;
    meter.Add(view, kNow + absl::Seconds(i));
  }
  EXPECT_NEAR(meter.Add(view, kNow + absl::Seconds(10.5)).pages_per_second, 90,
              12);
  ProgressRate rate;
  for (int i = 11; i <= 16; ++i)
    rate = meter.Add(view, kNow + absl::Seconds(i));
  EXPECT_EQ(rate.pages_per_second, 0);
  EXPECT_EQ(rate.bytes_per_second, 0);
}

TEST(RateMeterTest, ANewRoundBeginsAnew) {
  RateMeter meter;
  jobs::ProgressView view;
  view.round = 1;
  view.counts.fetched = 1000;
  meter.Add(view, kNow);
  view.round = 2;
  view.counts.fetched = 0;
  EXPECT_EQ(meter.Add(view, kNow + absl::Seconds(1)).pages_per_second, 0);
}

TEST(ProgressPrinterTest, PlainLinesComeAtEachPhaseAndEveryTenSeconds) {
  ProgressPrinter printer(std::nullopt);
  jobs::ProgressView view = Fetching();
  EXPECT_EQ(printer.Next(view, kNow),
            "round 3: fetch, 8,400 of 20,000 pages, 0.0 pages/s, 0 B/s, 12 "
            "failed, 34 hosts\n");
  for (int i = 1; i < 40; ++i) {
    EXPECT_EQ(printer.Next(view, kNow + absl::Milliseconds(250 * i)), "");
  }
  view.counts.fetched += 1000;
  EXPECT_THAT(printer.Next(view, kNow + absl::Seconds(10)),
              StartsWith("round 3: fetch, 9,400 of 20,000 pages, "));
  view.phase = proto::UPDATE;
  EXPECT_EQ(printer.Next(view, kNow + absl::Seconds(11)), "round 3: update\n");
  EXPECT_EQ(printer.Finish(), "");
}

TEST(ProgressPrinterTest, NoRoundIsNoLine) {
  ProgressPrinter printer(std::nullopt);
  EXPECT_EQ(printer.Next(jobs::ProgressView{}, kNow), "");
}

TEST(ProgressPrinterTest, LiveLinesAreDrawnOverTheOldOnes) {
  ProgressPrinter printer(TerminalStyle{.width = 80});
  const std::string first = printer.Next(Fetching(), kNow);
  EXPECT_THAT(first, StartsWith("\x1b[?25lround 3"));
  EXPECT_THAT(first, EndsWith("\x1b[K\n"));
  EXPECT_THAT(printer.Next(Fetching(), kNow + absl::Seconds(1)),
              StartsWith("\x1b[2A\rround 3"));
}

TEST(ProgressPrinterTest, WhatIsSaidStaysAboveTheLiveLines) {
  ProgressPrinter printer(TerminalStyle{.width = 80});
  printer.Next(Fetching(), kNow);
  EXPECT_EQ(printer.Say("hear"), "\x1b[2A\r\x1b[Jhear\n");
  // The live lines are drawn again below it, and then over themselves.
  EXPECT_THAT(printer.Next(Fetching(), kNow + absl::Seconds(1)),
              StartsWith("\x1b[?25lround 3"));
  EXPECT_THAT(printer.Next(Fetching(), kNow + absl::Seconds(2)),
              StartsWith("\x1b[2A\rround 3"));
}

TEST(ProgressPrinterTest, AtTheEndTheLinesAreGoneAndTheCursorIsBack) {
  ProgressPrinter printer(TerminalStyle{.width = 80});
  EXPECT_EQ(printer.Finish(), "\x1b[?25h");
  printer.Next(Fetching(), kNow);
  EXPECT_EQ(printer.Finish(), "\x1b[2A\r\x1b[J\x1b[?25h");
}

}  // namespace
}  // namespace gannet::sites
