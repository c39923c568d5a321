// HtmlGumbo reads a page's facts from its whole tree, built as browsers build
// it: slow (17 MB/s) and right. It reads the pages that HtmlScanner is not sure
// of, and judges it in the tests. Not thread-safe: one per worker.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/parse/gumbo_tree.h"
#include "jobs/parse/html_facts.h"

namespace gannet::jobs {

class HtmlGumbo {
 public:
  explicit HtmlGumbo(std::string agent,
                     size_t max_tree_bytes = GumboTree::kDefaultMaxBytes)
      : collector_(std::move(agent)), tree_(max_tree_bytes) {}

  // False if the page exceeds the tree's bounds; `facts` is then cleared. Its
  // views are valid until the next call. What stands inside <template> is inert
  // and left out. REQUIRES: `html` is UTF-8.
  bool Read(std::string_view html, HtmlFacts& facts);

 private:
  void ReadElement(const GumboElement& element, HtmlFacts& facts);

  const FactsCollector collector_;
  GumboTree tree_;
  // The way down to the node being read: a page may nest a million deep.
  std::vector<std::pair<const GumboVector*, unsigned>> path_;
  std::string title_;
};

}  // namespace gannet::jobs
