#include "jobs/parse/html_gumbo.h"

#include <cstring>

namespace gannet::jobs {
namespace {

HtmlElement KindOf(const GumboElement& element) {
  if (element.tag_namespace == GUMBO_NAMESPACE_SVG) {
    return element.tag == GUMBO_TAG_A ? HtmlElement::kA : HtmlElement::kOther;
  }
  if (element.tag_namespace != GUMBO_NAMESPACE_HTML) {
    return HtmlElement::kOther;
  }
  switch (element.tag) {
    case GUMBO_TAG_A:
      return HtmlElement::kA;
    case GUMBO_TAG_AREA:
      return HtmlElement::kArea;
    case GUMBO_TAG_LINK:
      return HtmlElement::kLink;
    case GUMBO_TAG_IFRAME:
      return HtmlElement::kIframe;
    case GUMBO_TAG_FRAME:
      return HtmlElement::kFrame;
    case GUMBO_TAG_IMG:
      return HtmlElement::kImg;
    case GUMBO_TAG_SOURCE:
      return HtmlElement::kSource;
    case GUMBO_TAG_BASE:
      return HtmlElement::kBase;
    case GUMBO_TAG_META:
      return HtmlElement::kMeta;
    default:
      return HtmlElement::kOther;
  }
}

HtmlAttributes AttributesOf(const GumboElement& element) {
  HtmlAttributes attributes;
  struct Wanted {
    const char* name;
    std::string_view HtmlAttributes::*value;
  };
  static constexpr Wanted kWanted[] = {{"href", &HtmlAttributes::href},
                                       {"src", &HtmlAttributes::src},
                                       {"srcset", &HtmlAttributes::srcset},
                                       {"rel", &HtmlAttributes::rel},
                                       {"name", &HtmlAttributes::name},
                                       {"content", &HtmlAttributes::content}};
  for (unsigned i = 0; i < element.attributes.length; ++i) {
    const auto* attribute =
        static_cast<const GumboAttribute*>(element.attributes.data[i]);
    for (const Wanted& wanted : kWanted) {
      // First wins: an SVG link may have both href and xlink:href.
      if (strcmp(attribute->name, wanted.name) == 0 &&
          (attributes.*wanted.value).data() == nullptr) {
        attributes.*wanted.value = attribute->value;
      }
    }
  }
  return attributes;
}

}  // namespace

void HtmlGumbo::ReadElement(const GumboElement& element, HtmlFacts& facts) {
  if (element.tag == GUMBO_TAG_TITLE &&
      element.tag_namespace == GUMBO_NAMESPACE_HTML && !facts.has_title) {
    title_.clear();
    for (unsigned i = 0; i < element.children.length; ++i) {
      const auto* child =
          static_cast<const GumboNode*>(element.children.data[i]);
      if (child->type == GUMBO_NODE_TEXT ||
          child->type == GUMBO_NODE_WHITESPACE) {
        title_ += child->v.text.text;
      }
    }
    FactsCollector::AddTitle(title_, facts);
    return;
  }
  const HtmlElement kind = KindOf(element);
  if (kind == HtmlElement::kOther) return;
  collector_.Add(kind, AttributesOf(element), facts);
}

bool HtmlGumbo::Read(std::string_view html, HtmlFacts& facts) {
  facts.Clear();
  const GumboNode* document = tree_.Parse(html);
  if (document == nullptr) return false;
  path_.clear();
  path_.emplace_back(&document->v.document.children, 0);
  while (!path_.empty()) {
    auto& [children, next] = path_.back();
    if (next == children->length) {
      path_.pop_back();
      continue;
    }
    const auto* node = static_cast<const GumboNode*>(children->data[next++]);
    // GUMBO_NODE_TEMPLATE is another type: its children are not looked at.
    if (node->type != GUMBO_NODE_ELEMENT) continue;
    ReadElement(node->v.element, facts);
    if (node->v.element.children.length > 0) {
      path_.emplace_back(&node->v.element.children, 0);
    }
  }
  return true;
}

}  // namespace gannet::jobs
