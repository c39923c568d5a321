#include "jobs/parse/html_scanner.h"

#include <cstring>

#include "jobs/parse/character_reference.h"
#include "jobs/parse/html_tag.h"
#include "jobs/parse/raw_text.h"

namespace gannet::jobs {
namespace {

// What a start tag means to the scanner.
enum class Meaning : uint8_t {
  kNothing,
  kFact,     // An element of HtmlFacts.
  kRawText,  // Its content is text.
  kScript,   //
  kTitle,    //
  kTable,    //
  kSelect,   //
  kOption,   // May stand in a select.
  kSvg,      //
  kTrouble,  // The tree builder may do anything.
  kIframe,   // A fact, and raw text.
};

struct TagInfo {
  Meaning meaning = Meaning::kNothing;
  HtmlElement element = HtmlElement::kOther;
  std::string_view raw_name = {};  // Of what ends its text.
};

TagInfo InfoOf(PackedName name) {
  switch (name) {
    case Pack("a"):
      return {Meaning::kFact, HtmlElement::kA};
    case Pack("area"):
      return {Meaning::kFact, HtmlElement::kArea};
    case Pack("link"):
      return {Meaning::kFact, HtmlElement::kLink};
    case Pack("img"):
    case Pack("image"):  // The tree builder renames it.
      return {Meaning::kFact, HtmlElement::kImg};
    case Pack("source"):
      return {Meaning::kFact, HtmlElement::kSource};
    case Pack("base"):
      return {Meaning::kFact, HtmlElement::kBase};
    case Pack("meta"):
      return {Meaning::kFact, HtmlElement::kMeta};
    case Pack("iframe"):
      return {Meaning::kIframe, HtmlElement::kIframe, "iframe"};
    case Pack("script"):
      return {Meaning::kScript};
    case Pack("title"):
      return {Meaning::kTitle};
    case Pack("style"):
      return {Meaning::kRawText, HtmlElement::kOther, "style"};
    case Pack("textarea"):
      return {Meaning::kRawText, HtmlElement::kOther, "textarea"};
    case Pack("xmp"):
      return {Meaning::kRawText, HtmlElement::kOther, "xmp"};
    case Pack("noembed"):
      return {Meaning::kRawText, HtmlElement::kOther, "noembed"};
    case Pack("noframes"):
      return {Meaning::kRawText, HtmlElement::kOther, "noframes"};
    case Pack("table"):
      return {Meaning::kTable};
    case Pack("select"):
      return {Meaning::kSelect};
    case Pack("option"):
    case Pack("optgroup"):
      return {Meaning::kOption};
    case Pack("svg"):
      return {Meaning::kSvg};
    // Counted if the scanner has to go on without being sure.
    case Pack("frame"):
      return {Meaning::kTrouble, HtmlElement::kFrame};
    case Pack("frameset"):
    case Pack("template"):
    case Pack("math"):
      return {Meaning::kTrouble};
    default:
      return {};
  }
}

// The shapes of icons: inside <svg> they are never HTML, hold no links, and do
// not break out of it.
bool IsHarmlessInSvg(PackedName name, std::string_view text) {
  switch (name) {
    case Pack("g"):
    case Pack("path"):
    case Pack("circle"):
    case Pack("ellipse"):
    case Pack("line"):
    case Pack("polygon"):
    case Pack("polyline"):
    case Pack("rect"):
    case Pack("use"):
    case Pack("defs"):
    case Pack("symbol"):
    case Pack("stop"):
    case Pack("mask"):
      return true;
    case kLongName: {
      constexpr std::string_view kLong[] = {"lineargradient", "radialgradient",
                                            "clippath"};
      for (const std::string_view known : kLong) {
        if (known.size() != text.size()) continue;
        size_t same = 0;
        while (same < text.size() &&
               kNameBytes[static_cast<uint8_t>(text[same])] ==
                   static_cast<uint8_t>(known[same])) {
          ++same;
        }
        if (same == text.size()) return true;
      }
      return false;
    }
    default:
      return false;
  }
}

// One pass over one page.
class Pass {
 public:
  Pass(std::string_view html, bool if_unsure_go_on,
       const FactsCollector& collector, Arena& arena, HtmlFacts& facts)
      : at_(html.data()),
        end_(html.data() + html.size()),
        if_unsure_go_on_(if_unsure_go_on),
        collector_(collector),
        arena_(arena),
        facts_(facts) {}

  // False if not sure.
  bool Run() {
    while (at_ < end_) {
      const auto* less = static_cast<const char*>(
          memchr(at_, '<', static_cast<size_t>(end_ - at_)));
      if (less == nullptr || end_ - less < 2) return true;
      at_ = less + 1;
      bool sure = true;
      if (IsTagLetter(*at_)) {
        sure = in_svg_ ? SvgStartTag() : StartTag();
      } else if (*at_ == '/') {
        ++at_;
        sure = EndTag();
      } else if (*at_ == '!') {
        ++at_;
        sure = Declaration();
      } else if (*at_ == '?') {
        SkipPast('>');
      }
      if (!sure && !if_unsure_go_on_) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMaxSvgDepth = 32;

  void SkipPast(char c) {
    const auto* found = static_cast<const char*>(
        memchr(at_, c, static_cast<size_t>(end_ - at_)));
    at_ = found == nullptr ? end_ : found + 1;
  }

  TagEnd SkipAttributes() {
    // Most tags have none.
    if (at_ < end_ && *at_ == '>') {
      ++at_;
      return TagEnd::kOpen;
    }
    return ReadAttributes(
        at_, end_, [](PackedName, std::string_view, std::string_view) {});
  }

  bool Declaration() {
    if (end_ - at_ >= 2 && at_[0] == '-' && at_[1] == '-') {
      at_ = EndOfComment(at_ + 2, end_);
      return true;
    }
    // In foreign content <![CDATA[ is no comment.
    if (in_svg_ && at_ < end_ && *at_ == '[') return false;
    SkipPast('>');  // A doctype ends there too, whatever its quotes.
    return true;
  }

  bool EndTag() {
    if (at_ == end_) return true;
    if (!IsTagLetter(*at_)) {
      SkipPast('>');
      return true;
    }
    const char* const begin = at_;
    const PackedName name = ReadTagName(at_, end_);
    const std::string_view text(begin, static_cast<size_t>(at_ - begin));
    if (SkipAttributes() == TagEnd::kEndOfFile) return true;
    if (in_svg_) return SvgEndTag(name, text);
    if (name == Pack("select")) in_select_ = false;
    return true;
  }

  bool StartTag() {
    const char* const begin = at_;
    const PackedName name = ReadTagName(at_, end_);
    const TagInfo info = InfoOf(name);
    bool sure = true;
    if (in_select_ && info.meaning != Meaning::kOption &&
        info.meaning != Meaning::kScript) {
      sure = false;
    }
    switch (info.meaning) {
      case Meaning::kNothing:
        if (name == kLongName && IsPlaintext(begin)) return false;
        SkipAttributes();
        return sure;
      case Meaning::kOption:
        SkipAttributes();
        return sure;
      case Meaning::kFact:
        return Fact(info.element) && sure;
      case Meaning::kTrouble:
        Fact(info.element);
        return false;
      case Meaning::kIframe:
        if (!Fact(info.element)) return false;
        at_ = EndOfRawText(at_, end_, info.raw_name);
        return sure;
      case Meaning::kRawText:
        if (SkipAttributes() == TagEnd::kEndOfFile) return sure;
        at_ = EndOfRawText(at_, end_, info.raw_name);
        return sure;
      case Meaning::kScript:
        if (SkipAttributes() == TagEnd::kEndOfFile) return sure;
        at_ = EndOfScript(at_, end_);
        return sure;
      case Meaning::kTitle:
        return Title() && sure;
      case Meaning::kTable:
        seen_table_ = true;
        SkipAttributes();
        return sure;
      case Meaning::kSelect:
        if (SkipAttributes() != TagEnd::kEndOfFile) in_select_ = true;
        return sure;
      case Meaning::kSvg: {
        const TagEnd end = SkipAttributes();
        if (end == TagEnd::kOpen) {
          in_svg_ = !if_unsure_go_on_;
          svg_depth_ = 0;
        }
        return sure;
      }
    }
    return sure;
  }

  bool IsPlaintext(const char* begin) const {
    constexpr std::string_view kPlaintext = "plaintext";
    if (static_cast<size_t>(at_ - begin) != kPlaintext.size()) return false;
    for (const char c : kPlaintext) {
      if (kNameBytes[static_cast<uint8_t>(*begin++)] !=
          static_cast<uint8_t>(c)) {
        return false;
      }
    }
    return true;
  }

  bool Title() {
    if (SkipAttributes() == TagEnd::kEndOfFile) return true;
    const char* const begin = at_;
    at_ = EndOfRawText(at_, end_, "title");
    if (facts_.has_title) return !seen_table_;
    const std::string_view raw(begin, static_cast<size_t>(at_ - begin));
    FactsCollector::AddTitle(
        DecodeReferences(raw, ReferencePlace::kText, arena_), facts_);
    return true;
  }

  // An element that HtmlFacts knows.
  bool Fact(HtmlElement element) {
    HtmlAttributes raw;
    const auto set = [](std::string_view& slot, std::string_view value) {
      if (slot.data() == nullptr) slot = value;  // Of doubles the first counts.
    };
    const TagEnd end = ReadAttributes(
        at_, end_,
        [&](PackedName name, std::string_view, std::string_view value) {
          switch (name) {
            case Pack("href"):
              return set(raw.href, value);
            case Pack("src"):
              return set(raw.src, value);
            case Pack("srcset"):
              return set(raw.srcset, value);
            case Pack("rel"):
              return set(raw.rel, value);
            case Pack("name"):
              return set(raw.name, value);
            case Pack("content"):
              return set(raw.content, value);
            default:
              return;
          }
        });
    if (end == TagEnd::kEndOfFile) return true;
    for (std::string_view* value : {&raw.href, &raw.src, &raw.srcset, &raw.rel,
                                    &raw.name, &raw.content}) {
      if (value->empty()) continue;
      *value = DecodeReferences(*value, ReferencePlace::kAttribute, arena_);
    }
    // Tables move elements forward: then the first in the text need not be the
    // first in the tree.
    const bool first_base = facts_.base_href.data() == nullptr;
    const bool first_canonical = facts_.canonical.data() == nullptr;
    collector_.Add(element, raw, facts_);
    if (!seen_table_) return true;
    if (element == HtmlElement::kBase && raw.href.data() != nullptr) {
      return first_base;
    }
    if (element == HtmlElement::kLink && raw.href.data() != nullptr &&
        !first_canonical) {
      return !HasWord(raw.rel, "canonical");
    }
    return true;
  }

  bool SvgStartTag() {
    const char* const begin = at_;
    const PackedName name = ReadTagName(at_, end_);
    const std::string_view text(begin, static_cast<size_t>(at_ - begin));
    if (!IsHarmlessInSvg(name, text)) return false;
    if (SkipAttributes() != TagEnd::kOpen) return true;
    if (svg_depth_ == kMaxSvgDepth) return false;
    svg_names_[svg_depth_++] = text;
    return true;
  }

  // Only well nested ones; otherwise the end tag may close what is outside.
  bool SvgEndTag(PackedName name, std::string_view text) {
    if (svg_depth_ == 0) {
      if (name != Pack("svg")) return false;
      in_svg_ = false;
      return true;
    }
    const std::string_view open = svg_names_[--svg_depth_];
    if (open.size() != text.size()) return false;
    for (size_t i = 0; i < open.size(); ++i) {
      if (kNameBytes[static_cast<uint8_t>(open[i])] !=
          kNameBytes[static_cast<uint8_t>(text[i])]) {
        return false;
      }
    }
    return true;
  }

  const char* at_;
  const char* const end_;
  const bool if_unsure_go_on_;
  const FactsCollector& collector_;
  Arena& arena_;
  HtmlFacts& facts_;

  bool seen_table_ = false;
  bool in_select_ = false;
  bool in_svg_ = false;
  size_t svg_depth_ = 0;
  std::string_view svg_names_[kMaxSvgDepth];
};

}  // namespace

bool HtmlScanner::Scan(std::string_view html, bool if_unsure_go_on,
                       HtmlFacts& facts) {
  facts.Clear();
  arena_.Reset();
  return Pass(html, if_unsure_go_on, collector_, arena_, facts).Run();
}

}  // namespace gannet::jobs
