#include "sites/agent/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace gannet::sites {
namespace {

const absl::Time kNow = absl::FromUnixMillis(1'800'000'000'123);

std::string Text(std::initializer_list<LogField> fields) {
  return LogLine(LogFormat::kText, kNow, LogLevel::kInfo, "event", fields);
}

TEST(LogTest, ALineHasTimeLevelEventAndFields) {
  EXPECT_EQ(Text({{"round", int64_t{7}},
                  {"seconds", 1.5},
                  {"ok", true},
                  {"site", "tokyo"}}),
            "2027-01-15T08:00:00.123Z info event round=7 seconds=1.500 ok=true "
            "site=tokyo");
}

TEST(LogTest, TextFromTheWebCannotForgeALineOrAFieldOrReachATerminal) {
  EXPECT_EQ(Text({{"url", "http://a/ b=c"}}).substr(36),
            "url=\"http://a/ b=c\"");
  for (const std::string& nasty :
       {std::string("a\nerror forged"), std::string("\x1b[2J"),
        std::string("\"x"), std::string("\xff\xfe"), std::string("a\0b", 3),
        std::string("\x7f"), std::string("\u202e")}) {
    const std::string line = Text({{"text", nasty}});
    for (const char c : line) {
      EXPECT_GE(c, ' ') << line;
      EXPECT_LT(c, 0x7f) << line;
    }
    EXPECT_EQ(line.find("text=\""), 36u) << line;
    EXPECT_EQ(line.back(), '"');
  }
}

TEST(LogTest, JsonIsAnObjectALineWhateverTheFieldsHold) {
  const auto line = nlohmann::json::parse(
      LogLine(LogFormat::kJson, kNow, LogLevel::kWarning, "event",
              {{"n", int64_t{7}}, {"ok", false}, {"text", "a\n\xff\"b"}}));
  EXPECT_EQ(line["time"], "2027-01-15T08:00:00.123Z");
  EXPECT_EQ(line["level"], "warning");
  EXPECT_EQ(line["event"], "event");
  EXPECT_EQ(line["n"], 7);
  EXPECT_EQ(line["ok"], false);
  EXPECT_EQ(line["text"], "a\n\xef\xbf\xbd\"b");
}

TEST(LogTest, WhatIsBelowTheLevelIsNotWrittenAndTheJournalGetsPriorities) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Log log({.level = LogLevel::kWarning}, ends[1], /*to_journal=*/true,
          storage::SystemClock());
  log.Info("no", {});
  log.Warning("yes", {{"a", "b"}});
  log.SetLevel(LogLevel::kDebug);
  log.Debug("now", {});
  char text[200] = {};
  ASSERT_GT(read(ends[0], text, sizeof(text) - 1), 0);
  EXPECT_STREQ(text, "<4>warning yes a=b\n<7>debug now\n");
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace gannet::sites
