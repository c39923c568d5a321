#include "sites/console/terminal_text.h"

#include <gtest/gtest.h>

namespace gannet::sites {
namespace {

TEST(TerminalTextTest, EscapeCodesBecomeVisible) {
  EXPECT_EQ(ForTerminal("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(ForTerminal("title\x07"), "title\\x07");
  EXPECT_EQ(ForTerminal("\x7f"), "\\x7f");
  EXPECT_EQ(ForTerminal(std::string_view("\0", 1)), "\\x00");
}

TEST(TerminalTextTest, EightBitEscapeCodesBecomeVisible) {
  // CSI as one code point, and as one byte that is not UTF-8.
  EXPECT_EQ(ForTerminal("\xc2\x9b"
                        "2J"),
            "\\u{9b}2J");
  EXPECT_EQ(ForTerminal("\x9b"
                        "2J"),
            "\\x9b2J");
}

TEST(TerminalTextTest, TextCannotBeMadeToReadBackwards) {
  EXPECT_EQ(ForTerminal("a\xe2\x80\xae"
                        "b"),
            "a\\u{202e}b");
  EXPECT_EQ(ForTerminal("\xe2\x81\xa6"), "\\u{2066}");
}

TEST(TerminalTextTest, EveryScriptStaysReadable) {
  EXPECT_EQ(ForTerminal("日本語 ÄÖ 🦆"), "日本語 ÄÖ 🦆");
}

TEST(TerminalTextTest, BytesThatAreNotUtf8AreShownAsBytes) {
  EXPECT_EQ(ForTerminal("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(ForTerminal("\xe6\x97"), "\\xe6\\x97");           // Cut off.
  EXPECT_EQ(ForTerminal("\xc0\xaf"), "\\xc0\\xaf");           // Overlong.
  EXPECT_EQ(ForTerminal("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // Surrogate.
  EXPECT_EQ(ForTerminal("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

TEST(TerminalTextTest, LineEndsStayOnlyWhereLinesAreMeant) {
  EXPECT_EQ(ForTerminal("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(LinesForTerminal("a\nb\x1b"), "a\nb\\x1b");
}

TEST(TerminalTextTest, WidthCountsLettersNotBytes) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("äöü"), 3u);
}

}  // namespace
}  // namespace gannet::sites
