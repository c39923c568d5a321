#include "jobs/parse/page_text.h"

#include "jobs/parse/html_facts.h"

namespace gannet::jobs {
namespace {

bool IsInvisible(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_HEAD:
    case GUMBO_TAG_SCRIPT:
    case GUMBO_TAG_STYLE:
    case GUMBO_TAG_TITLE:
    case GUMBO_TAG_NOFRAMES:
    case GUMBO_TAG_NOEMBED:
    case GUMBO_TAG_IFRAME:
    case GUMBO_TAG_OBJECT:
    case GUMBO_TAG_DATALIST:
      return true;
    default:
      return false;
  }
}

// Elements that flow with the text around them; all others are blocks, because
// an extra line does less harm than joining two words.
bool IsInline(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_A:
    case GUMBO_TAG_ABBR:
    case GUMBO_TAG_ACRONYM:
    case GUMBO_TAG_B:
    case GUMBO_TAG_BDI:
    case GUMBO_TAG_BDO:
    case GUMBO_TAG_BIG:
    case GUMBO_TAG_BUTTON:
    case GUMBO_TAG_CITE:
    case GUMBO_TAG_CODE:
    case GUMBO_TAG_DATA:
    case GUMBO_TAG_DEL:
    case GUMBO_TAG_DFN:
    case GUMBO_TAG_EM:
    case GUMBO_TAG_FONT:
    case GUMBO_TAG_I:
    case GUMBO_TAG_IMG:
    case GUMBO_TAG_INPUT:
    case GUMBO_TAG_INS:
    case GUMBO_TAG_KBD:
    case GUMBO_TAG_LABEL:
    case GUMBO_TAG_MARK:
    case GUMBO_TAG_NOBR:
    case GUMBO_TAG_NOSCRIPT:
    case GUMBO_TAG_Q:
    case GUMBO_TAG_RP:
    case GUMBO_TAG_RT:
    case GUMBO_TAG_RUBY:
    case GUMBO_TAG_S:
    case GUMBO_TAG_SAMP:
    case GUMBO_TAG_SMALL:
    case GUMBO_TAG_SPAN:
    case GUMBO_TAG_STRIKE:
    case GUMBO_TAG_STRONG:
    case GUMBO_TAG_SUB:
    case GUMBO_TAG_SUP:
    case GUMBO_TAG_TIME:
    case GUMBO_TAG_TT:
    case GUMBO_TAG_U:
    case GUMBO_TAG_UNKNOWN:
    case GUMBO_TAG_VAR:
    case GUMBO_TAG_WBR:
      return true;
    default:
      return false;
  }
}

// Writes words, and remembers which separator goes before the next.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out), begin_(out.size()) {}

  void Break() { line_ = true; }

  void Text(std::string_view text, bool preformatted) {
    for (const char c : text) {
      if (IsHtmlBlank(c)) {
        (preformatted && c == '\n' ? line_ : blank_) = true;
        continue;
      }
      if (out_.size() > begin_) {
        if (line_) {
          out_.push_back('\n');
        } else if (blank_) {
          out_.push_back(' ');
        }
      }
      line_ = blank_ = false;
      out_.push_back(c);
    }
  }

  void Finish() {
    if (out_.size() > begin_) out_.push_back('\n');
  }

 private:
  std::string& out_;
  const size_t begin_;
  bool line_ = false;
  bool blank_ = false;
};

}  // namespace

bool PageText::Append(std::string_view html, std::string& out) {
  const GumboNode* document = tree_.Parse(html);
  if (document == nullptr) return false;
  Writer writer(out);
  path_.clear();
  path_.push_back({&document->v.document.children, 0, true, false});
  while (!path_.empty()) {
    Level& level = path_.back();
    if (level.next == level.children->length) {
      if (level.is_block) writer.Break();
      path_.pop_back();
      continue;
    }
    const auto* node =
        static_cast<const GumboNode*>(level.children->data[level.next++]);
    switch (node->type) {
      case GUMBO_NODE_TEXT:
      case GUMBO_NODE_WHITESPACE:
      case GUMBO_NODE_CDATA:
        writer.Text(node->v.text.text, level.is_preformatted);
        break;
      case GUMBO_NODE_ELEMENT: {
        const GumboElement& element = node->v.element;
        if (element.tag_namespace == GUMBO_NAMESPACE_HTML &&
            IsInvisible(element.tag)) {
          break;
        }
        const bool is_block = !IsInline(element.tag);
        const bool is_preformatted = level.is_preformatted ||
                                     element.tag == GUMBO_TAG_PRE ||
                                     element.tag == GUMBO_TAG_TEXTAREA;
        if (is_block) writer.Break();
        path_.push_back({&element.children, 0, is_block, is_preformatted});
        break;
      }
      default:
        break;
    }
  }
  writer.Finish();
  return true;
}

}  // namespace gannet::jobs
