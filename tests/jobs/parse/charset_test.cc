#include "jobs/parse/charset.h"

#include <gtest/gtest.h>

#include <string>

namespace gannet::jobs {
namespace {

class CharsetTest : public ::testing::Test {
 protected:
  std::string Text(std::string_view bytes, std::string_view http = "") {
    const CharsetDecoder::Decoded decoded = decoder_.Decode(bytes, http);
    charset_ = decoded.charset;
    return std::string(decoded.text);
  }
  CharsetDecoder decoder_;
  std::string charset_;
};

TEST_F(CharsetTest, AsciiAndUtf8ArePassedOnWithoutACopy) {
  for (const std::string& page :
       {std::string(5000, 'x'), std::string(100, 'x') + "caf\xC3\xA9",
        std::string("\xEF\xBF\xBD")}) {
    EXPECT_EQ(decoder_.Decode(page, "").text.data(), page.data());
    EXPECT_EQ(decoder_.Decode(page, "utf8").charset, "utf-8");
  }
  // ASCII is passed on whatever charset the page declares.
  const std::string page(5000, 'x');
  EXPECT_EQ(decoder_.Decode(page, "koi8-r").text.data(), page.data());
  EXPECT_EQ(decoder_.Decode(page, "koi8-r").charset, "koi8-r");
}

TEST_F(CharsetTest, AByteOrderMarkWinsOverEverything) {
  EXPECT_EQ(Text("\xEF\xBB\xBF<meta charset=koi8-r>\xC3\xA9", "latin1"),
            "<meta charset=koi8-r>\xC3\xA9");
  EXPECT_EQ(Text(std::string("\xFF\xFE<\0\xE9\0", 6), "latin1"), "<\xC3\xA9");
  EXPECT_EQ(charset_, "utf-16le");
  EXPECT_EQ(Text(std::string("\xFE\xFF\0<\0\xE9", 6)), "<\xC3\xA9");
}

TEST_F(CharsetTest, ContentTypeWinsOverMeta) {
  EXPECT_EQ(Text("<meta charset=koi8-r>\xE9", "ISO-8859-1"),
            "<meta charset=koi8-r>\xC3\xA9");
  EXPECT_EQ(charset_, "windows-1252");
  // An unknown label is ignored.
  EXPECT_EQ(Text("<meta charset=koi8-r>\xE9", "nonsense"),
            "<meta charset=koi8-r>\xD0\x98");
}

TEST_F(CharsetTest, Latin1MeansWindows1252WithEveryByteDefined) {
  EXPECT_EQ(Text("\x80\x81\x93\xE9", "latin1"),
            "\xE2\x82\xAC\xC2\x81\xE2\x80\x9C\xC3\xA9");
  EXPECT_EQ(EncodingOfLabel(" US-ASCII\n"), "windows-1252");
  EXPECT_EQ(EncodingOfLabel("gb2312"), "gbk");
  EXPECT_EQ(EncodingOfLabel("x"), "");
}

TEST_F(CharsetTest, PrescanFindsWhatBrowsersFind) {
  const std::pair<const char*, const char*> cases[] = {
      {"<meta charset=koi8-r>", "koi8-r"},
      {"<META CharSet = 'KOI8-R' >", "koi8-r"},
      {"<meta http-equiv=Content-Type content='text/html; charset=sjis'>",
       "shift_jis"},
      {"<meta content='text/html; charset=\"sjis\"' http-equiv='content-type'>",
       "shift_jis"},
      {"<meta content='text/html; charset=sjis'>", ""},
      {"<!-- <meta charset=koi8-r> --><meta charset=sjis>", "shift_jis"},
      {"<!--><meta charset=koi8-r>", "koi8-r"},
      {"<a title='<meta charset=koi8-r>'><meta charset=sjis>", "shift_jis"},
      {"</a title='<meta charset=koi8-r>'><meta charset=sjis>", "shift_jis"},
      {"<?xml version='1.0' encoding='koi8-r'?><html>", "koi8-r"},
      {"<meta charset=utf-16>", "utf-8"},
      {"<metacharset=koi8-r>", ""},
      {"<meta charset=koi8-r", ""},
      {"<meta charset=unknown><meta charset=sjis>", "shift_jis"},
  };
  for (const auto& [html, charset] : cases) {
    EXPECT_EQ(PrescanEncoding(html), charset) << html;
  }
  EXPECT_EQ(PrescanEncoding(std::string(1020, ' ') + "<meta charset=koi8-r>"),
            "");
}

TEST_F(CharsetTest, EachCharsetIsConvertedByItsOwnTable) {
  EXPECT_EQ(Text("\x83\x65\x83\x58\x83\x67", "shift_jis"), "テスト");
  EXPECT_EQ(Text("\xA5\xC6\xA5\xB9\xA5\xC8", "euc-jp"), "テスト");
  EXPECT_EQ(Text("\x1B$B%F%9%H\x1B(B", "iso-2022-jp"), "テスト");
  EXPECT_EQ(Text("\xB2\xE2\xCA\xD4", "gb2312"), "测试");
  EXPECT_EQ(Text("\xB4\xFA\xB8\xD5", "big5"), "測試");
  EXPECT_EQ(Text("\xC5\xD7\xBD\xBA\xC6\xAE", "euc-kr"), "테스트");
  EXPECT_EQ(Text("\xEF\xF0\xE8", "windows-1251"), "при");
  EXPECT_EQ(Text("\xD0\xD2\xC9", "koi8-r"), "при");
  EXPECT_EQ(Text("\xB1\xE6", "latin2"), "ąć");
}

TEST_F(CharsetTest, EveryKnownEncodingHasAConverter) {
  for (const char* label :
       {"windows-1250", "windows-1253", "windows-1254",   "windows-1255",
        "windows-1256", "windows-1257", "windows-1258",   "tis-620",
        "iso-8859-3",   "iso-8859-4",   "iso-8859-5",     "iso-8859-6",
        "iso-8859-7",   "iso-8859-8",   "iso-8859-10",    "iso-8859-13",
        "iso-8859-14",  "iso-8859-15",  "iso-8859-16",    "koi8-u",
        "ibm866",       "macintosh",    "x-mac-cyrillic", "gb18030"}) {
    // 0xE4 becomes an a-umlaut only if windows-1252 was used instead.
    const std::string text = Text("x\xE4\xE4", label);
    EXPECT_EQ(text[0], 'x');
    EXPECT_NE(charset_, "windows-1252") << label;
  }
  EXPECT_EQ(Text("\xE4", "macintosh"), "‰");
  EXPECT_EQ(Text("\xE4", "ibm866"), "ф");
}

TEST_F(CharsetTest, BytesThatAreNotOfTheCharsetBecomeReplacements) {
  EXPECT_EQ(Text("a\xE9z", "utf-8"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(Text("a\x83", "shift_jis"), "a\xEF\xBF\xBD");
  EXPECT_EQ(Text("\xFF<a>", "shift_jis"), "\xEF\xBF\xBD<a>");
  std::string bad;
  for (int i = 0; i < 10'000; ++i) bad += "\xFF";
  EXPECT_EQ(Text(bad, "euc-kr").size(), 30'000u);
  EXPECT_EQ(Text(std::string("\xFF\xFE<\0\xE9", 5)), "<\xEF\xBF\xBD");
}

TEST_F(CharsetTest, WithoutADeclarationTheCharsetIsGuessedFromTheBytes) {
  std::string russian = std::string(9000, ' ');
  for (int i = 0; i < 50; ++i) {
    russian +=
        "\xFD\xF2\xEE \xF2\xE5\xEA\xF1\xF2 \xED\xE0 \xF0\xF3\xF1\xF1"
        "\xEA\xEE\xEC \xFF\xE7\xFB\xEA\xE5. ";
  }
  EXPECT_NE(Text(russian).find("это текст на русском языке"),
            std::string::npos);
  EXPECT_EQ(charset_, "windows-1251");
  EXPECT_EQ(Text("caf\xE9"), "caf\xC3\xA9");
}

}  // namespace
}  // namespace gannet::jobs
