// HtmlScanner reads a page's facts from its tags alone, without building a
// tree: about 1 GB/s where gumbo does 17 MB/s. It is the tokenizer of the HTML
// standard (13.2.5) with all that a crawler has no use for left out: text is
// skipped by memchr, names are packed into a word and compared as numbers.
//
// The simple idea: a link is a link wherever its tag stands, so the tree does
// not matter. What that leaves out, and what is done about it:
//
//   - Some elements turn what follows into text: script (with its escaped
//     states), style, textarea, title, xmp, iframe, noembed, noframes. The
//     scanner does as the tree builder would. (noscript is an ordinary element:
//     we run no scripts.)
//   - In some places the tree builder ignores tags or moves them out of the
//     document: inside <select>, around <frameset>, in <template>, in <math>
//     and most of <svg>. There the scanner says "not sure", and gumbo reads the
//     page. In svg, the common shapes of icons are known to be harmless.
//   - Misnested markup makes the tree builder clone <a> elements: the same link
//     twice, which is the same set of links. Tables make it move elements
//     forward: that matters only where the first of several counts (base,
//     canonical, title), and then the scanner is not sure.
//
// tests/jobs/parse and tests/fuzz/fuzz_html.cc hold it against gumbo.
// Not thread-safe: one per worker.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/parse/arena.h"
#include "jobs/parse/html_facts.h"

namespace gannet::jobs {

class HtmlScanner {
 public:
  explicit HtmlScanner(std::string agent)
      : collector_(std::move(agent)), arena_(kMaxDecodedBytes) {}

  // False if the tree might hold other links than the tags say; `facts` are
  // then those up to that place. Views are valid until the next call. REQUIRES:
  // `html` is UTF-8.
  bool Read(std::string_view html, HtmlFacts& facts) {
    return Scan(html, /*if_unsure_go_on=*/false, facts);
  }

  // For pages that gumbo cannot read within its bounds: every tag counts.
  void ReadAnyway(std::string_view html, HtmlFacts& facts) {
    Scan(html, /*if_unsure_go_on=*/true, facts);
  }

 private:
  // Of decoded attribute values; what goes beyond is as if not there.
  static constexpr size_t kMaxDecodedBytes = size_t{64} << 20;

  bool Scan(std::string_view html, bool if_unsure_go_on, HtmlFacts& facts);

  const FactsCollector collector_;
  Arena arena_;
};

}  // namespace gannet::jobs
