// Any bytes as a page: where the scanner is sure, it must find what gumbo
// finds. A byte from 0x80 on stands for a whole piece of awkward markup, so
// that the fuzzer need not find such pieces letter by letter.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/jobs/parse/reader_comparison.h"

namespace {

constexpr std::string_view kPieces[] = {
    "<a href=1>",
    "<a rel=nofollow href='2'>",
    "</a>",
    "<a ",
    "href=\"",
    "<table>",
    "</table>",
    "<tr>",
    "<td>",
    "</td>",
    "<caption>",
    "<colgroup>",
    "<col>",
    "<tbody>",
    "<select>",
    "</select>",
    "<option>",
    "<optgroup>",
    "<svg>",
    "<svg/>",
    "</svg>",
    "<g>",
    "</g>",
    "<path/>",
    "<use>",
    "</use>",
    "<linearGradient>",
    "</lineargradient>",
    "<desc>",
    "<foreignObject>",
    "<math>",
    "<mi>",
    "<annotation-xml encoding='text/html'>",
    "<template>",
    "</template>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "--!>",
    "<!",
    "<![CDATA[",
    "]]>",
    "<?",
    "<style>",
    "</style>",
    "<textarea>",
    "</textarea>",
    "<title>t",
    "</title>",
    "<xmp>",
    "</xmp>",
    "<iframe src=3>",
    "</iframe>",
    "<noembed>",
    "</noembed>",
    "<noframes>",
    "</noframes>",
    "<noscript>",
    "</noscript>",
    "<frameset>",
    "</frameset>",
    "<frame src=4>",
    "<plaintext>",
    "<base href=5>",
    "<base href=6>",
    "<link rel=canonical href=7>",
    "<link rel=canonical href=8>",
    "<link rel=stylesheet href=9>",
    "<meta name=robots content=nofollow>",
    "<meta name=gannet content=noindex>",
    "<img src=10 srcset='11, 12 2x'>",
    "<image src=13>",
    "<source srcset=14>",
    "<area href=15>",
    "<html>",
    "<head>",
    "</head>",
    "<body>",
    "</body>",
    "</html>",
    "<p>",
    "</p>",
    "</br>",
    "<b>",
    "</b>",
    "<nobr>",
    "<font color=1>",
    "</font>",
    "<button>",
    "<form>",
    "</form>",
    "<isindex>",
    "<input type=hidden>",
    "<applet>",
    "</applet>",
    "<h1>",
    "<li>",
    "<dd>",
    "<div>",
    "</div>",
    "<ruby>",
    "<rt>",
    "&amp",
    "&#x",
    "&not",
    "\xC3\xA9",
    "\xEF\xBB\xBF",
    "<!DOCTYPE html>",
    "<object>",
    "<marquee>",
    "<pre>",
    "\n",
    "<hr>",
    "<keygen>",
    "<menuitem>",
};

// gumbo reads control characters as U+FFFD, while the standard and the scanner
// keep them; it also drops a NUL at the beginning of an attribute's name.
bool IsControl(uint8_t byte) {
  return byte == 0x7F || (byte < 0x20 && byte != '\t' && byte != '\n' &&
                          byte != '\f' && byte != '\r');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1024) return 0;  // Short pages show the same mistakes faster.
  using gannet::jobs::ReaderComparison;
  std::string html;
  for (size_t i = 0; i < size; ++i) {
    if (IsControl(data[i])) {
      html.push_back('?');
    } else if (data[i] < 0x80) {
      html.push_back(static_cast<char>(data[i]));
    } else {
      html += kPieces[(data[i] - 0x80) % std::size(kPieces)];
    }
  }
  static ReaderComparison comparison;
  if (comparison.Compare(html) == ReaderComparison::Answer::kDifferent) {
    std::fprintf(stderr, "page:\n%s\nscanner:\n%s\ngumbo:\n%s\n", html.c_str(),
                 comparison.by_scanner().c_str(),
                 comparison.by_gumbo().c_str());
    std::abort();
  }
  return 0;
}
