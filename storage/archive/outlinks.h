// A page's outlinks as the block of a `metadata` record, in the form that
// other crawlers write: application/warc-fields, one "outlink: URL" a line.
// Recrawl reads them back for a page that did not change. Thread-safe: no
// state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace gannet::storage {

void AppendOutlink(std::string& block, std::string_view url);

std::string OutlinksBlock(absl::Span<const std::string> urls);

// In the order written. What other crawlers write after the URL (Heritrix: how
// and where it was found) is left out, as are other fields.
std::vector<std::string> ParseOutlinks(std::string_view block);

}  // namespace gannet::storage
