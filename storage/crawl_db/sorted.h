// Batches in key order: sorted look-ups touch each block once. Functions only;
// thread-safe.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "storage/crawl_db/found_url.h"

namespace gannet::storage {

// By page; what was found twice is one URL with the cash of both.
inline std::vector<FoundUrl> SortedAndMerged(std::vector<FoundUrl> sorted) {
  std::sort(sorted.begin(), sorted.end(),
            [](const FoundUrl& a, const FoundUrl& b) {
              return a.page.bytes < b.page.bytes;
            });
  size_t kept = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (kept > 0 && sorted[kept - 1].page == sorted[i].page) {
      FoundUrl& merged = sorted[kept - 1];
      merged.cash += sorted[i].cash;
      merged.depth = std::min(merged.depth, sorted[i].depth);
      merged.redirects = std::min(merged.redirects, sorted[i].redirects);
    } else {
      if (kept != i) sorted[kept] = std::move(sorted[i]);
      ++kept;
    }
  }
  sorted.resize(kept);
  return sorted;
}

inline std::string_view PageOf(const PageKey& page) { return page.bytes; }
inline std::string_view PageOf(const FoundUrl& url) { return url.page.bytes; }

template <typename Items>
std::vector<std::string_view> PagesOf(const Items& items) {
  std::vector<std::string_view> pages;
  pages.reserve(items.size());
  for (const auto& item : items) pages.push_back(PageOf(item));
  return pages;
}

}  // namespace gannet::storage
