// HtmlFacts is what a crawler wants to know of an HTML page, and FactsCollector
// turns elements into it. Two readers find the elements: html_gumbo.h builds
// the whole tree, as browsers do, and is right; html_scanner.h reads tags as
// they come, fifty times as fast, and knows when it may be wrong. What an
// element *means* is decided here, once, for both. Not thread-safe: one per
// worker.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gannet::jobs {

enum class LinkKind : uint8_t {
  kA,       // Those of SVG included.
  kArea,    //
  kLink,    // <link rel=... href>, rel=canonical included.
  kIframe,  //
  kFrame,   //
  kImage,   // <img src>
  kSrcset,  // One URL of <img srcset> or <source srcset>.
};
inline constexpr int kLinkKindCount = 7;
// "a", "area", ...
std::string_view LinkKindName(LinkKind kind);

struct HtmlLink {
  LinkKind kind;
  bool nofollow;          // rel contains the word.
  std::string_view href;  // Decoded; may be empty, relative, or nonsense.
  std::string_view rel;   // Decoded; words separated by blanks.
};

// Views point into the page or into its reader's memory: they are valid until
// either is used for the next page. A view without data() says "no such thing".
struct HtmlFacts {
  std::vector<HtmlLink> links;  // In the order of the document.
  std::string_view base_href;   // Of the first <base href>.
  std::string_view canonical;   // Of the first <link rel=canonical href>.
  bool noindex = false;         // <meta name=robots>, and name=AGENT.
  bool nofollow = false;
  bool has_title = false;
  std::string title;  // Of the first <title>; blanks collapsed, cut short.

  void Clear();
};

enum class HtmlElement : uint8_t {
  kOther,
  kA,
  kArea,
  kLink,
  kIframe,
  kFrame,
  kImg,
  kSource,
  kBase,
  kMeta,
};

// Attribute values, decoded; without data() if the attribute is not there.
struct HtmlAttributes {
  std::string_view href, src, srcset, rel, name, content;
};

class FactsCollector {
 public:
  // A title is for people; the longest that a page may make us keep.
  static constexpr size_t kMaxTitleBytes = 512;

  // `agent` is the crawler's name, for <meta name=AGENT>; may be empty.
  explicit FactsCollector(std::string agent) : agent_(std::move(agent)) {}

  void Add(HtmlElement element, const HtmlAttributes& attributes,
           HtmlFacts& facts) const;
  // The text of a <title>. Only the first counts.
  static void AddTitle(std::string_view text, HtmlFacts& facts);

 private:
  std::string agent_;
};

// True if `word` (in lower case) is one of the blank-separated words of `list`.
bool HasWord(std::string_view list, std::string_view word);

// Reads "noindex, nofollow" and the like; sets, never clears.
void AddRobotsWords(std::string_view content, bool& noindex, bool& nofollow);

// Appends `text` with runs of ASCII blanks as one space, none at the ends, and
// at most `max_bytes` long, whole characters.
void AppendCollapsed(std::string_view text, size_t max_bytes, std::string& out);

// HTML's: space, tab, LF, FF, CR.
inline bool IsHtmlBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

}  // namespace gannet::jobs
