// Writes the HTML of a page. Size: half of the ordinary pages are under 14,000
// bytes, the mean is 14,000, and the upper half follows a power law (exponent
// 4). A page is as long as its links need, if that is more. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "tests/fake_web/text_blocks.h"
#include "tests/fake_web/web.h"

namespace gannet::fake_web {

enum class HrefStyle {
  kAsServed,
  kPreview,  // For people's browsers: every link leads to /_web/HOST/...
};

class HtmlPages {
 public:
  // `web` must outlive this.
  explicit HtmlPages(const Web* web);

  // Appends the page, in UTF-8 (see EncodeOdd for the other charsets).
  // `version` changes the text, never the links.
  void Append(const Ref& ref, uint64_t version, HrefStyle style,
              std::string* out) const;

  // The size that an ordinary page is filled up to.
  size_t WantedSize(const Ref& ref) const;

  const Web& web() const { return *web_; }

 private:
  void AppendHead(const Ref& ref, HrefStyle style, std::string* out) const;
  void AppendHref(const Ref& from, uint32_t depth, const Link& link,
                  HrefStyle style, std::string* out) const;

  const Web* const web_;
  const TextBlocks blocks_;
};

// Writes the links of pages with odd markup (kOddLinks, kBrokenHtml, ...).
// Returns whether `ref` is such a page. (html_odd.cc)
bool AppendOddMarkup(const Web& web, const Ref& ref, std::string* out);

// For kCharset pages, gives the bytes in their charset and what the header says
// of it; leaves all other pages alone.
struct OddCharset {
  std::string_view content_type;
  bool is_odd = false;
};
OddCharset EncodeOddCharset(const Ref& ref, std::string* body);

}  // namespace gannet::fake_web
