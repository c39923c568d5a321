#include "sites/console/text_table.h"

#include <gtest/gtest.h>

namespace gannet::sites {
namespace {

TEST(TextTableTest, ColumnsAreAlignedAndNumbersStandOnTheRight) {
  TextTable table({"host", ">pages", "robots"});
  table.Add({"a.example", "1", "none"});
  table.Add({"ä.example", "1,234", ""});
  EXPECT_EQ(table.ToString(),
            "host       pages  robots\n"
            "a.example      1  none\n"
            "ä.example  1,234\n");
}

TEST(TextTableTest, ACellCannotBreakTheTable) {
  TextTable table({"title"});
  table.Add({"a\nb\x1b[2J"});
  EXPECT_EQ(table.ToString(), "title\na\\nb\\x1b[2J\n");
}

TEST(TextTableTest, NumbersAreWrittenForPeople) {
  EXPECT_EQ(WithCommas(0), "0");
  EXPECT_EQ(WithCommas(999), "999");
  EXPECT_EQ(WithCommas(-1234567), "-1,234,567");
  EXPECT_EQ(WithCommas(-123), "-123");
  EXPECT_EQ(BytesForPeople(0), "0 B");
  EXPECT_EQ(BytesForPeople(1500), "1.5 kB");
  EXPECT_EQ(BytesForPeople(999'999), "1.0 MB");
  EXPECT_EQ(BytesForPeople(123e9), "123 GB");
}

TEST(TextTableTest, TimesAreWrittenForPeople) {
  EXPECT_EQ(SecondsForPeople(0.85), "850 ms");
  EXPECT_EQ(SecondsForPeople(1.25), "1.2 s");
  EXPECT_EQ(SecondsForPeople(59.4), "59 s");
  EXPECT_EQ(SecondsForPeople(200), "3 min 20 s");
  EXPECT_EQ(SecondsForPeople(7500), "2 h 5 min");
  EXPECT_EQ(SecondsForPeople(273600), "3 d 4 h");
  EXPECT_EQ(SecondsForPeople(-1), "-");
  EXPECT_EQ(TimeForPeople(0), "-");
  EXPECT_EQ(TimeForPeople(1'700'000'000'000), "2023-11-14 22:13:20");
}

}  // namespace
}  // namespace gannet::sites
