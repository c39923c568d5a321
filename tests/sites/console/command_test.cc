#include "sites/console/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gannet::sites {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A command line such as Gannet's: `show [--all] [--top N] [--by WORD] NAME...`
class CommandTest : public testing::Test {
 protected:
  CommandTest() {
    line_.Version("1.2.3");
    Command& show = line_.Add("show", "show things");
    show.Value("NAME", names_, "which", {.required = true});
    show.Flag("--all", all_, "all of them");
    show.Value("--top", top_, "so many",
               {.type = "N", .show_default = true, .least = 2, .most = 9});
    show.Value("--by", by_, "order", {.one_of = {"size", "age"}});
    show.Value("--width", width_, "columns", {.positive = true});
    show.Example("line show a", "And more.");
    show.Run([this] {
      ++runs_;
      return kDiskFull;
    });
  }

  ExitCode Parse(std::vector<const char*> argv) {
    argv.insert(argv.begin(), "line");
    return line_.Parse(static_cast<int>(argv.size()), argv.data());
  }

  Command line_{"a test"};
  std::vector<std::string> names_;
  std::string by_ = "size";
  uint64_t top_ = 5;
  int64_t width_ = 80;
  bool all_ = false;
  int runs_ = 0;
};

TEST_F(CommandTest, TheChosenCommandReadsItsValuesAndTellsTheExitCode) {
  EXPECT_EQ(Parse({"show", "a", "b", "--all", "--top", "9", "--by", "age",
                   "--width", "1"}),
            kDiskFull);
  EXPECT_EQ(runs_, 1);
  EXPECT_THAT(names_, ElementsAre("a", "b"));
  EXPECT_TRUE(all_);
  EXPECT_EQ(top_, 9u);
  EXPECT_EQ(by_, "age");
  EXPECT_EQ(width_, 1);
}

TEST_F(CommandTest, WhatIsNotGivenKeepsItsDefault) {
  EXPECT_EQ(Parse({"show", "a"}), kDiskFull);
  EXPECT_FALSE(all_);
  EXPECT_EQ(top_, 5u);
  EXPECT_EQ(by_, "size");
  EXPECT_EQ(width_, 80);
}

TEST_F(CommandTest, WrongUsageIsSaidAndRunsNothing) {
  for (const std::vector<const char*>& wrong :
       std::vector<std::vector<const char*>>{{},
                                             {"hide"},
                                             {"show"},
                                             {"show", "a", "--some"},
                                             {"show", "a", "--top", "1"},
                                             {"show", "a", "--top", "10"},
                                             {"show", "a", "--top", "x"},
                                             {"show", "a", "--width", "0"},
                                             {"show", "a", "--by", "name"}}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(Parse(wrong), kWrongUsage);
    EXPECT_NE(testing::internal::GetCapturedStderr(), "");
  }
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandTest, HelpShowsValuesDefaultsAndTheExample) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(Parse({"show", "--help"}), kDone);
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_EQ(runs_, 0);
  EXPECT_THAT(help, HasSubstr("--top N:UINT in [2 - 9]=5"));
  EXPECT_THAT(help, HasSubstr("--by TEXT:{size,age}"));
  EXPECT_THAT(help, HasSubstr("Example:\n  line show a\n\nAnd more."));
}

TEST_F(CommandTest, VersionIsPrinted) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(Parse({"--version"}), kDone);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "1.2.3\n");
}

}  // namespace
}  // namespace gannet::sites
