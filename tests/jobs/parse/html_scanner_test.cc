// What both readers must find, by examples; html_compare_test.cc compares them
// with each other on everything else.
#include "jobs/parse/html_scanner.h"

#include <gtest/gtest.h>

#include <string>

#include "jobs/parse/html_gumbo.h"
#include "tests/jobs/parse/reader_comparison.h"

// The function that a failed assert() calls.
extern "C" void __assert_fail(const char* assertion, const char* file,
                              unsigned int line, const char* function) noexcept;

namespace gannet::jobs {
namespace {

std::string Scan(std::string_view html) {
  static HtmlScanner scanner("gannet");
  HtmlFacts facts;
  if (!scanner.Read(html, facts)) return "not sure";
  return Describe(facts);
}

std::string ByGumbo(std::string_view html) {
  static HtmlGumbo gumbo("gannet");
  HtmlFacts facts;
  if (!gumbo.Read(html, facts)) return "too much";
  return Describe(facts);
}

void ExpectBoth(std::string_view html, std::string_view facts) {
  EXPECT_EQ(Scan(html), facts) << html;
  EXPECT_EQ(ByGumbo(html), facts) << html;
}

TEST(HtmlReadersTest, AttributesAreReadInEverySpelling) {
  ExpectBoth(
      "<a href=1><A HREF='2'><a\nhref\n=\n\"3\"\n><a/href=4/><a title='>' "
      "href=5><a href><a x href=6 href=7><a data-href=8><area href=9>",
      "a [1] rel []\na [2] rel []\na [3] rel []\na [4/] rel []\na [5] rel []\n"
      "a [6] rel []\na [] rel []\narea [9] rel []\n");
}

TEST(HtmlReadersTest, CharacterReferencesInAnHrefAreDecodedAsTheStandardSays) {
  ExpectBoth("<a href='?a=1&amp;copy=2&copy=3&copy;&#x2f;&#47&not1&notit;'>",
             "a [?a=1&copy=2&copy=3\xC2\xA9//&not1&notit;] rel []\n");
}

TEST(HtmlReadersTest, TagsInRawTextAndCommentsAreNoTags) {
  for (const char* name :
       {"script", "style", "textarea", "xmp", "noembed", "noframes"}) {
    const std::string html = std::string("<") + name + "><a href=1></" + name +
                             "x><a href=2></" + name + " ><a href=3>";
    ExpectBoth(html, "a [3] rel []\n");
  }
  ExpectBoth("<!-- <a href=1> --!><a href=2><!--><a href=3><!---><a href=4>",
             "a [2] rel []\na [3] rel []\na [4] rel []\n");
  ExpectBoth("<script><!--<script></script><a href=1>--></script><a href=2>",
             "a [2] rel []\n");
  ExpectBoth("<noscript><a href=1></noscript>", "a [1] rel []\n");
  ExpectBoth("<iframe src=1><a href=2></iframe>", "iframe [1] rel []\n");
}

TEST(HtmlReadersTest, NofollowIsAWordOfRelInAnyCase) {
  ExpectBoth("<a rel='external NoFollow' href=1><a rel=nofollowed href=2>",
             "a [1] rel [external NoFollow] nofollow\n"
             "a [2] rel [nofollowed]\n");
}

TEST(HtmlReadersTest, RobotsWordsAreForAllAgentsOrForOurs) {
  ExpectBoth("<META NAME=ROBOTS CONTENT='NoIndex, NOFOLLOW'>",
             "noindex\nnofollow\n");
  ExpectBoth("<meta content=none name=Gannet>", "noindex\nnofollow\n");
  ExpectBoth("<meta name=otherbot content=none>", "");
}

TEST(HtmlReadersTest, TheFirstBaseCanonicalAndTitleCount) {
  ExpectBoth(
      "<title> A\n &lt;b&gt;  &copy </title><title>C</title><base target=_top>"
      "<base href=1><base href=2><link rel='alternate canonical' href=3><link "
      "rel=canonical href=4>",
      "link [3] rel [alternate canonical]\nlink [4] rel [canonical]\n"
      "base [1]\ncanonical [3]\ntitle [A <b> \xC2\xA9]\n");
}

TEST(HtmlReadersTest, ATitleIsCutAtAWholeCharacter) {
  std::string title;
  for (int i = 0; i < 1000; ++i) title += "\xE2\x82\xAC";
  HtmlFacts facts;
  HtmlScanner("").Read("<title>" + title + "</title>", facts);
  EXPECT_EQ(facts.title, title.substr(0, 510));
}

TEST(HtmlReadersTest, SrcsetGivesOneLinkPerCandidate) {
  ExpectBoth("<img src=0 srcset='1 1x, 2,3 2x , data:,x 3x,4(,)'>",
             "img [0] rel []\nsrcset [1] rel []\nsrcset [2,3] rel []\n"
             "srcset [4(,)] rel []\nsrcset [data:,x] rel []\n");
  ExpectBoth("<picture><source srcset='1, 2 f(a,b), 3'></picture>",
             "srcset [1] rel []\nsrcset [2] rel []\nsrcset [3] rel []\n");
}

TEST(HtmlReadersTest, IconsInSvgDoNotStopTheScanner) {
  ExpectBoth(
      "<a href=1><svg viewBox='0 0 1 1'><defs><linearGradient "
      "id=x><stop/></linearGradient></defs><g><path d='M0'/><use "
      "href=#x></use></g></svg></a><a href=2>",
      "a [1] rel []\na [2] rel []\n");
}

TEST(HtmlReadersTest, WhereTheTreeDecidesTheScannerIsNotSure) {
  for (const char* html :
       {"<select><a href=1></select>", "<frameset><frame src=1></frameset>",
        "<template><a href=1></template>", "<math><a href=1></math>",
        "<svg><title><a href=1></svg>", "<plaintext><a href=1>",
        "<svg></g><a href=1>", "<svg><![CDATA[<a href=1>]]></svg>",
        "<table><base href=1><td><base href=2>",
        "<table><link rel=canonical href=1><link rel=canonical href=2>"}) {
    EXPECT_EQ(Scan(html), "not sure") << html;
  }
}

TEST(HtmlGumboTest, LinksInSvgCountAndLinksInTemplatesDoNot) {
  EXPECT_EQ(ByGumbo("<svg><a xlink:href=1><a href=2></svg>"),
            "a [1] rel []\na [2] rel []\n");
  EXPECT_EQ(ByGumbo("<template><a href=1></template><a href=2>"),
            "a [2] rel []\n");
}

TEST(HtmlGumboTest, DeepNestingOverflowsNothing) {
  std::string html;
  for (int i = 0; i < 3'000; ++i) html += "<div>";
  EXPECT_EQ(ByGumbo(html + "<a href=1>"), "a [1] rel []\n");
  // Deeper nesting may be given up for its time, but must not crash.
  for (int i = 0; i < 50'000; ++i) html += "<div>";
  ByGumbo(html);
}

TEST(HtmlGumboTest, APageThatWouldTakeTheMachinesMemoryIsGivenUp) {
  // Each paragraph clones all the <b> before it: quadratic.
  std::string html;
  for (int i = 0; i < 500; ++i) {
    html += "<p><b id=" + std::to_string(i) + "></p>";
  }
  HtmlGumbo gumbo("", /*max_tree_bytes=*/size_t{8} << 20);
  HtmlFacts facts;
  EXPECT_FALSE(gumbo.Read(html, facts));
  // The reader still reads the next page.
  EXPECT_TRUE(gumbo.Read("<a href=1>", facts));
  EXPECT_EQ(Describe(facts), "a [1] rel []\n");
}

TEST(HtmlGumboTest, APageThatWouldTakeMinutesIsGivenUp) {
  // Each <div> walks all open ones: quadratic in time, not in memory.
  std::string html;
  for (int i = 0; i < 200'000; ++i) html += "<div>";
  HtmlGumbo gumbo("", /*max_tree_bytes=*/size_t{1} << 30);
  HtmlFacts facts;
  EXPECT_FALSE(gumbo.Read(html, facts));
}

TEST(HtmlGumboTest, APageThatFailsAnAssertionOfGumboIsGivenUp) {
  EXPECT_EQ(ByGumbo("<table><svg><select><title>t<select><td>"), "too much");
  EXPECT_EQ(ByGumbo("<a href=1>"), "a [1] rel []\n");
}

TEST(HtmlGumboDeathTest, AssertionsElsewhereStillEndTheProcess) {
  EXPECT_DEATH(__assert_fail("one == two", "file.cc", 7, "Function"),
               "file.cc:7: Function: Assertion `one == two' failed");
}

TEST(HtmlScannerTest, ReadAnywayCountsEveryTag) {
  HtmlScanner scanner("");
  HtmlFacts facts;
  scanner.ReadAnyway(
      "<select><a href=1></select><frame src=2><svg><a href=3></svg>", facts);
  EXPECT_EQ(Describe(facts), "a [1] rel []\na [3] rel []\nframe [2] rel []\n");
}

}  // namespace
}  // namespace gannet::jobs
