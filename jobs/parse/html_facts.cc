#include "jobs/parse/html_facts.h"

#include "storage/archive/http_message.h"

namespace gannet::jobs {
namespace {

std::string_view TrimHtml(std::string_view text) {
  while (!text.empty() && IsHtmlBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsHtmlBlank(text.back())) text.remove_suffix(1);
  return text;
}

// The URLs of a srcset ("a.png 1x, b.png 480w"), by the standard's rule: a
// candidate is a run without blanks; commas at its end close it, else its
// descriptors follow up to a comma outside parentheses.
void AddSrcset(std::string_view text, HtmlFacts& facts) {
  size_t at = 0;
  while (true) {
    while (at < text.size() && (IsHtmlBlank(text[at]) || text[at] == ',')) ++at;
    if (at == text.size()) return;
    const size_t begin = at;
    while (at < text.size() && !IsHtmlBlank(text[at])) ++at;
    size_t end = at;
    if (text[end - 1] == ',') {
      while (end > begin && text[end - 1] == ',') --end;
    } else {
      int depth = 0;
      for (; at < text.size() && (depth > 0 || text[at] != ','); ++at) {
        // Parentheses do not nest.
        if (text[at] == '(') depth = 1;
        if (text[at] == ')') depth = 0;
      }
    }
    facts.links.push_back(
        {LinkKind::kSrcset, false, text.substr(begin, end - begin), {}});
  }
}

}  // namespace

std::string_view LinkKindName(LinkKind kind) {
  static constexpr std::string_view kNames[kLinkKindCount] = {
      "a", "area", "link", "iframe", "frame", "img", "srcset"};
  return kNames[static_cast<size_t>(kind)];
}

void HtmlFacts::Clear() {
  links.clear();
  base_href = canonical = {};
  noindex = nofollow = has_title = false;
  title.clear();
}

bool HasWord(std::string_view list, std::string_view word) {
  size_t at = 0;
  while (at < list.size()) {
    while (at < list.size() && IsHtmlBlank(list[at])) ++at;
    const size_t begin = at;
    while (at < list.size() && !IsHtmlBlank(list[at])) ++at;
    if (at - begin == word.size() &&
        storage::SameName(list.substr(begin, at - begin), word)) {
      return true;
    }
  }
  return false;
}

void AddRobotsWords(std::string_view content, bool& noindex, bool& nofollow) {
  size_t at = 0;
  while (at < content.size()) {
    const auto separates = [](char c) { return c == ',' || IsHtmlBlank(c); };
    while (at < content.size() && separates(content[at])) ++at;
    const size_t begin = at;
    while (at < content.size() && !separates(content[at])) ++at;
    const std::string_view word = content.substr(begin, at - begin);
    const bool none = storage::SameName(word, "none");
    if (none || storage::SameName(word, "noindex")) noindex = true;
    if (none || storage::SameName(word, "nofollow")) nofollow = true;
  }
}

void AppendCollapsed(std::string_view text, size_t max_bytes,
                     std::string& out) {
  const size_t begin = out.size();
  bool blank = false;
  for (const char c : text) {
    if (IsHtmlBlank(c)) {
      blank = true;
      continue;
    }
    if (blank && out.size() > begin) out.push_back(' ');
    blank = false;
    out.push_back(c);
    if (out.size() - begin > max_bytes) break;
  }
  if (out.size() - begin <= max_bytes) return;
  // Do not cut in the middle of a character.
  size_t end = begin + max_bytes;
  while (end > begin && (static_cast<uint8_t>(out[end]) & 0xC0) == 0x80) --end;
  while (end > begin && out[end - 1] == ' ') --end;
  out.resize(end);
}

void FactsCollector::AddTitle(std::string_view text, HtmlFacts& facts) {
  if (facts.has_title) return;
  facts.has_title = true;
  AppendCollapsed(text, kMaxTitleBytes, facts.title);
}

void FactsCollector::Add(HtmlElement element, const HtmlAttributes& attributes,
                         HtmlFacts& facts) const {
  const auto add = [&](LinkKind kind, std::string_view href) {
    if (href.data() == nullptr) return;
    facts.links.push_back(
        {kind, HasWord(attributes.rel, "nofollow"), href, attributes.rel});
  };
  switch (element) {
    case HtmlElement::kA:
      add(LinkKind::kA, attributes.href);
      break;
    case HtmlElement::kArea:
      add(LinkKind::kArea, attributes.href);
      break;
    case HtmlElement::kLink:
      add(LinkKind::kLink, attributes.href);
      if (facts.canonical.data() == nullptr &&
          attributes.href.data() != nullptr &&
          HasWord(attributes.rel, "canonical")) {
        facts.canonical = attributes.href;
      }
      break;
    case HtmlElement::kIframe:
      add(LinkKind::kIframe, attributes.src);
      break;
    case HtmlElement::kFrame:
      add(LinkKind::kFrame, attributes.src);
      break;
    case HtmlElement::kImg:
      add(LinkKind::kImage, attributes.src);
      AddSrcset(attributes.srcset, facts);
      break;
    case HtmlElement::kSource:
      AddSrcset(attributes.srcset, facts);
      break;
    case HtmlElement::kBase:
      if (facts.base_href.data() == nullptr) facts.base_href = attributes.href;
      break;
    case HtmlElement::kMeta: {
      const std::string_view name = TrimHtml(attributes.name);
      if (storage::SameName(name, "robots") ||
          (!agent_.empty() && storage::SameName(name, agent_))) {
        AddRobotsWords(attributes.content, facts.noindex, facts.nofollow);
      }
      break;
    }
    case HtmlElement::kOther:
      break;
  }
}

}  // namespace gannet::jobs
