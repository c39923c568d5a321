// The visible text of a page, for people and for search: `gannet export text`.
// Read from the whole tree; scripts, styles, the head and templates are left
// out, blanks are collapsed, and each block (paragraph, cell, heading) stands
// on a line of its own. No layout: what CSS hides is shown. Not thread-safe:
// one per worker.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/parse/gumbo_tree.h"

namespace gannet::jobs {

class PageText {
 public:
  explicit PageText(size_t max_tree_bytes = GumboTree::kDefaultMaxBytes)
      : tree_(max_tree_bytes) {}

  // Appends the text; false, and nothing, if the page exceeds the tree's
  // bounds. REQUIRES: `html` is UTF-8.
  bool Append(std::string_view html, std::string& out);

 private:
  struct Level {
    const GumboVector* children;
    unsigned next;
    bool is_block;
    bool is_preformatted;  // Line breaks count.
  };

  GumboTree tree_;
  std::vector<Level> path_;
};

}  // namespace gannet::jobs
