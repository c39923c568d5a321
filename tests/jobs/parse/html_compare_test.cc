// Compares the scanner with gumbo, on real manuals, on every kind of page of
// the fake web, and on all short sequences of awkward pieces.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/jobs/parse/manuals.h"
#include "tests/jobs/parse/reader_comparison.h"
#include "tests/test_run.h"

namespace gannet::jobs {
namespace {

using Answer = ReaderComparison::Answer;

void CompareManual(const std::vector<std::filesystem::path>& files,
                   double most_unsure) {
  const size_t sample = IsLongRun() ? files.size() : 300;
  const size_t step = std::max<size_t>(1, files.size() / sample);
  ReaderComparison comparison;
  size_t pages = 0, unsure = 0;
  for (size_t i = 0; i < files.size(); i += step) {
    const std::string html = ReadWhole(files[i]);
    const Answer answer = comparison.Compare(html);
    ++pages;
    unsure += answer == Answer::kNotSure;
    ASSERT_NE(answer, Answer::kDifferent)
        << files[i] << "\nscanner:\n"
        << comparison.by_scanner() << "\ngumbo:\n"
        << comparison.by_gumbo();
  }
  ::testing::Test::RecordProperty("pages", static_cast<int>(pages));
  ::testing::Test::RecordProperty("not_sure", static_cast<int>(unsure));
  EXPECT_LE(static_cast<double>(unsure),
            most_unsure * static_cast<double>(pages));
}

TEST(HtmlCompareTest, ScannerReadsThePostgresManualAsGumboDoes) {
  const auto files = PostgresManual();
  if (files.empty()) GTEST_SKIP() << "apt-get install postgresql-doc-15";
  CompareManual(files, 0);
}

TEST(HtmlCompareTest, ScannerReadsTheLibstdcxxManualAsGumboDoes) {
  const auto files = LibstdcxxManual();
  if (files.empty()) GTEST_SKIP() << "apt-get install libstdc++-12-doc";
  CompareManual(files, 0.01);
}

// Compares on every sequence of up to `length` pieces.
void CompareAll(const std::vector<std::string>& pieces, int length,
                const std::string& prefix, ReaderComparison& comparison,
                size_t& compared, size_t& unsure) {
  const Answer answer = comparison.Compare(prefix);
  ++compared;
  unsure += answer == Answer::kNotSure;
  ASSERT_NE(answer, Answer::kDifferent)
      << prefix << "\nscanner:\n"
      << comparison.by_scanner() << "\ngumbo:\n"
      << comparison.by_gumbo();
  if (length == 0) return;
  for (const std::string& piece : pieces) {
    CompareAll(pieces, length - 1, prefix + piece, comparison, compared,
               unsure);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(HtmlCompareTest, EveryShortRowOfTagsReadsAsGumboReadsIt) {
  const std::vector<std::string> pieces = {
      "<a href=1>",
      "</a>",
      "<table>",
      "<tr><td>",
      "</table>",
      "<b>",
      "</b>",
      "<p>",
      "<select>",
      "</select>",
      "<option>",
      "<svg>",
      "</svg>",
      "<g>",
      "<g/>",
      "</g>",
      "<path d='M0'/>",
      "<math>",
      "<template>",
      "</template>",
      "<script>",
      "</script>",
      "<!--",
      "-->",
      "<textarea>",
      "</textarea>",
      "<title>t",
      "</title>",
      "<iframe src=i>",
      "</iframe>",
      "<frameset>",
      "<frame src=f>",
      "<noscript>",
      "</noscript>",
      "<base href=b>",
      "<image src=g>",
      "<link rel=canonical href=c>",
      "</p>",
      "</br>",
      "<form>",
      "<body>",
      "</body>",
      "<head>",
      "</head>",
      "<html>",
      "<colgroup>",
      "<caption>",
      "<noframes>",
      "<plaintext>",
      "<style>",
      "</style>",
      "<button>",
      "<li>",
      "<isindex>",
      "<![CDATA[",
      "<input type=hidden>",
      "<applet>",
      "<h1>",
      "<nobr>",
      "<font color=1>",
      "text",
  };
  ReaderComparison comparison;
  size_t compared = 0, unsure = 0;
  CompareAll(pieces, IsLongRun() ? 4 : 3, "", comparison, compared, unsure);
  RecordProperty("compared", static_cast<int>(compared));
  RecordProperty("not_sure", static_cast<int>(unsure));
}

TEST(HtmlCompareTest, EveryShortRowOfTokenizerPiecesReadsAsGumboReadsIt) {
  const std::vector<std::string> pieces = {
      "<",  "a", " href", "=", "\"", "'",   "/",        ">",      "x", "!",
      "--", "?", "&amp",  ";", "\n", "</a", "<a href=", "script", "-", "\r",
  };
  ReaderComparison comparison;
  size_t compared = 0, unsure = 0;
  for (const char* prefix : {"", "<a ", "<!--", "<script>",
                             "<script><!--<script ", "<a href=\"", "<title>"}) {
    // What follows the pieces shows whether both readers end them alike.
    std::vector<std::string> with_end = pieces;
    with_end.push_back("\"'--></script><a href=end></title><a href=last>");
    CompareAll(with_end, IsLongRun() ? 5 : 3, prefix, comparison, compared,
               unsure);
    if (HasFatalFailure()) return;
  }
  RecordProperty("compared", static_cast<int>(compared));
}

TEST(HtmlCompareTest, EveryCharacterReferenceReadsAsGumboReadsIt) {
  ReaderComparison comparison;
  std::string html;
  const auto compare = [&] {
    ASSERT_EQ(comparison.Compare(html), Answer::kSame)
        << html << "\nscanner:\n"
        << comparison.by_scanner() << "\ngumbo:\n"
        << comparison.by_gumbo();
  };
  const uint32_t step = IsLongRun() ? 1 : 97;
  for (uint32_t number = 0; number < 0x110010;
       number += number < 0x3000 ? 1 : step) {
    html = "<a href='&#" + std::to_string(number) + ";'>";
    compare();
    if (HasFatalFailure()) return;
  }
  struct Named {
    const char* name;
    const char* text;
  };
  static constexpr Named kNamed[] = {
#include "jobs/parse/entities.inc"
  };
  for (const Named& named : kNamed) {
    for (const char* after : {"", "x", "=", ";", " ", "&", "1", "\xC3\xA9"}) {
      html = std::string("<a href=\"x&") + named.name + after + "\"><title>&" +
             named.name + after + "</title>";
      compare();
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gannet::jobs
