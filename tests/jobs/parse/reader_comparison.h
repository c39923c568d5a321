// Compares the scanner with gumbo: wherever the scanner is sure, both must find
// the same facts. Shared by the tests and by tests/fuzz/fuzz_html.cc.
// Not thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "jobs/parse/html_facts.h"
#include "jobs/parse/html_gumbo.h"
#include "jobs/parse/html_scanner.h"

namespace gannet::jobs {

// One fact per line, sorted, without repetitions: links (kind, href, rel,
// nofollow), base, canonical, robots, title.
std::string Describe(const HtmlFacts& facts);

class ReaderComparison {
 public:
  enum class Answer { kSame, kDifferent, kNotSure };

  ReaderComparison() : scanner_("gannet"), gumbo_("gannet") {}

  // A difference that is a known mistake of gumbo's counts as kNotSure.
  // REQUIRES: `html` is UTF-8.
  Answer Compare(std::string_view html);

  // What each reader found in the last page, as Describe() gives it.
  const std::string& by_scanner() const { return by_scanner_; }
  const std::string& by_gumbo() const { return by_gumbo_; }

 private:
  HtmlScanner scanner_;
  HtmlGumbo gumbo_;
  HtmlFacts facts_;
  std::string by_scanner_;
  std::string by_gumbo_;
};

}  // namespace gannet::jobs
