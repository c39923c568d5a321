#include "jobs/parse/page_text.h"

#include <gtest/gtest.h>

#include <string>

namespace gannet::jobs {
namespace {

std::string TextOf(std::string_view html) {
  PageText text;
  std::string out;
  EXPECT_TRUE(text.Append(html, out));
  return out;
}

TEST(PageTextTest, BlocksStandOnLinesAndBlanksCollapse) {
  EXPECT_EQ(TextOf("<title>T</title><h1> A  <b>b</b>c\n</h1><p>one<br>two "
                   "<a href=1>three</a></p><ul><li>x<li>y</ul>"
                   "<table><tr><td>1<td>2</table>"),
            "A bc\none\ntwo three\nx\ny\n1\n2\n");
}

TEST(PageTextTest, ScriptsStylesAndTemplatesAreNotText) {
  EXPECT_EQ(TextOf("a<script>x</script><style>y</style>"
                   "<template>z</template><!-- w -->b &amp; c"),
            "ab & c\n");
}

TEST(PageTextTest, LinesOfPreformattedTextStay) {
  EXPECT_EQ(TextOf("<pre>a\n  b</pre>"), "a\nb\n");
}

TEST(PageTextTest, AnEmptyPageHasNoText) { EXPECT_EQ(TextOf("<p> </p>"), ""); }

TEST(PageTextTest, APageBeyondTheBoundsGivesNothing) {
  PageText text(/*max_tree_bytes=*/size_t{1} << 20);
  std::string html, out = "before";
  for (int i = 0; i < 20'000; ++i) html += "<p>x";
  EXPECT_FALSE(text.Append(html, out));
  EXPECT_EQ(out, "before");
}

}  // namespace
}  // namespace gannet::jobs
