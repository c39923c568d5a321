#include "tests/jobs/parse/reader_comparison.h"

#include <fmt/format.h>

#include <set>

namespace gannet::jobs {

std::string Describe(const HtmlFacts& facts) {
  std::set<std::string> links;
  for (const HtmlLink& link : facts.links) {
    links.insert(fmt::format("{} [{}] rel [{}]{}\n", LinkKindName(link.kind),
                             link.href, link.rel,
                             link.nofollow ? " nofollow" : ""));
  }
  std::string text;
  for (const std::string& link : links) text += link;
  const auto add = [&text](std::string_view name, std::string_view value) {
    if (value.data() != nullptr) text += fmt::format("{} [{}]\n", name, value);
  };
  add("base", facts.base_href);
  add("canonical", facts.canonical);
  if (facts.noindex) text += "noindex\n";
  if (facts.nofollow) text += "nofollow\n";
  if (facts.has_title) add("title", facts.title);
  return text;
}

ReaderComparison::Answer ReaderComparison::Compare(std::string_view html) {
  const bool sure = scanner_.Read(html, facts_);
  by_scanner_ = Describe(facts_);
  // Read even if not needed: gumbo must survive it too.
  const bool read = gumbo_.Read(html, facts_);
  by_gumbo_ = Describe(facts_);
  if (!sure || !read) return Answer::kNotSure;
  return by_scanner_ == by_gumbo_ ? Answer::kSame : Answer::kDifferent;
}

}  // namespace gannet::jobs
