#include "tests/jobs/parse/reader_comparison.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <set>

#include "jobs/parse/html_tag.h"

namespace gannet::jobs {
namespace {

// In &#4294967361; the number overflows gumbo's int, but not the scanner's.
bool HasHugeNumber(std::string_view html) {
  for (size_t at = 0; (at = html.find("&#", at)) != html.npos; ++at) {
    size_t digits = 0;
    while (at + 2 + digits < html.size() &&
           std::isalnum(static_cast<unsigned char>(html[at + 2 + digits]))) {
      ++digits;
    }
    if (digits > 7) return true;
  }
  return false;
}

// gumbo loses the value of the attribute that follows a doubled one without a
// value: <a x x href=1>.
bool HasDoubleWithoutValue(std::string_view html) {
  const char* const end = html.data() + html.size();
  for (size_t less = 0; (less = html.find('<', less)) != html.npos; ++less) {
    const char* at = html.data() + less + 1;
    if (at == end) return false;
    ReadTagName(at, end);
    std::set<std::string> names;
    bool found = false;
    const auto take = [&](auto, std::string_view name, std::string_view value) {
      std::string lower;
      for (const char c : name) {
        lower += static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
      }
      found |= !names.insert(lower).second && value.empty();
    };
    ReadAttributes(at, end, take);
    if (found) return true;
  }
  return false;
}

}  // namespace

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
  // Read even if it is not compared: gumbo must survive the page too.
  const bool read = gumbo_.Read(html, facts_);
  by_gumbo_ = Describe(facts_);
  if (!sure || !read) return Answer::kNotSure;
  if (by_scanner_ == by_gumbo_) return Answer::kSame;
  return HasHugeNumber(html) || HasDoubleWithoutValue(html)
             ? Answer::kNotSure
             : Answer::kDifferent;
}

}  // namespace gannet::jobs
