#include "tests/fake_web/text_blocks.h"

#include <fmt/format.h>

#include "tests/fake_web/mix.h"
#include "tests/fake_web/words.h"

namespace gannet::fake_web {
namespace {

constexpr int kBlocks = 509;  // A prime: any stride visits all of them.

constexpr std::string_view kSmallWords[] = {
    "the",  "of",    "and",    "a",      "to",    "in",      "is",
    "that", "for",   "it",     "was",    "with",  "as",      "on",
    "by",   "from",  "its",    "which",  "after", "between", "were",
    "has",  "under", "before", "around", "where", "their",   "while"};

constexpr std::string_view kSeasoning[] = {" &amp; ",
                                           " &mdash; ",
                                           " <em>rather</em> ",
                                           " &ldquo;so&rdquo; ",
                                           " caf&eacute; ",
                                           " <code>a &lt; b</code> ",
                                           " <strong>not</strong> ",
                                           " na\xC3\xAFve ",
                                           " &nbsp;",
                                           " 3&times;7 "};

void AppendSentence(uint64_t hash, std::string* out) {
  const int words = 6 + static_cast<int>(hash % 12);
  for (int i = 0; i < words; ++i) {
    const uint64_t h = Mix(hash, i);
    const size_t begin = out->size();
    if (i > 0 && h % 29 == 0) {
      *out += kSeasoning[(h >> 8) % std::size(kSeasoning)];
    } else if (i > 0) {
      out->push_back(' ');
    }
    *out += h % 2 == 0 ? Word(h >> 8)
                       : kSmallWords[(h >> 8) % std::size(kSmallWords)];
    if (i == 0) (*out)[begin] = static_cast<char>((*out)[begin] - 'a' + 'A');
  }
  *out += ". ";
}

void AppendTable(uint64_t hash, std::string* out) {
  *out += "<table class=\"data\"><tr><th>Name</th><th>Value</th></tr>\n";
  for (int row = 0; row < 6; ++row) {
    const uint64_t h = Mix(hash, row);
    fmt::format_to(std::back_inserter(*out),
                   "<tr><td>{} {}</td><td>{}.{}</td></tr>\n", Word(h),
                   Word(h >> 8), (h >> 16) % 1000, (h >> 32) % 100);
  }
  *out += "</table>\n";
}

std::string MakeBlock(uint64_t hash) {
  std::string block;
  switch (hash % 24) {
    case 0:
      fmt::format_to(std::back_inserter(block),
                     "<!-- removed: <a href=\"/never/{}.html\">{}</a> -->\n",
                     Word(hash >> 8), Word(hash >> 16));
      break;
    case 1:
      fmt::format_to(std::back_inserter(block),
                     "<script>var markup = '<a href=\"/never/{}.html\">';\n"
                     "if (1 < 2 && 3 > 2) {{ track('{}'); }}</script>\n",
                     Word(hash >> 8), Word(hash >> 16));
      break;
    case 2:
    case 3:
      AppendTable(hash, &block);
      break;
    case 4:
    case 5:
      fmt::format_to(std::back_inserter(block),
                     "<h2 id=\"{}\">{} and {}</h2>\n", Word(hash >> 8),
                     Word(hash >> 8), Word(hash >> 16));
      break;
    default:
      break;
  }
  block += "<p>";
  const int sentences = 3 + static_cast<int>((hash >> 24) % 9);
  for (int i = 0; i < sentences; ++i) {
    AppendSentence(Mix(hash, i, 1), &block);
  }
  block += "</p>\n";
  return block;
}

}  // namespace

TextBlocks::TextBlocks(uint64_t seed) {
  blocks_.reserve(kBlocks);
  for (int i = 0; i < kBlocks; ++i) {
    blocks_.push_back(MakeBlock(Mix(seed, 0x7e47, i)));
  }
}

}  // namespace gannet::fake_web
