#include "tests/fake_web/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/fake_web/mix.h"
#include "tests/fake_web/words.h"

namespace gannet::fake_web {
namespace {

constexpr double kMedianSize = 14'000;
constexpr double kSmallestShare = 0.2;  // Of the median.
constexpr double kLargestShare = 20;
constexpr double kTailExponent = 4;

constexpr std::string_view kHeadEnd =
    "<style>\nbody { font: 16px/1.5 serif; margin: 0 auto; max-width: 60em }\n"
    "nav ul > li { display: inline-block; padding: 0 1em }\n"
    "a[href^=\"http\"]::after { content: \"\\2197\" }\n</style>\n"
    "<script>\n(function () {\n  var queue = window.queue || [];\n"
    "  if (queue.length < 3 && document.title) { queue.push('<view>'); }\n"
    "})();\n</script>\n</head>\n<body class=\"page\">\n<header>\n"
    "<nav aria-label=\"Main\"><ul>\n";

constexpr std::string_view kFooter =
    "<footer>\n<p>&copy; 2026 A web that does not exist &middot; made from a "
    "seed</p>\n<form action=\"/find\" method=\"post\"><input name=\"q\" "
    "placeholder=\"Search&hellip;\"></form>\n</footer>\n</body>\n</html>\n";

uint32_t DirectoryDepth(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  return static_cast<uint32_t>(std::count(path.begin(), path.end(), '/')) - 1;
}

// Turns the '&' of out[begin..] into "&amp;".
void EscapeAmpersands(size_t begin, std::string* out) {
  if (memchr(out->data() + begin, '&', out->size() - begin) == nullptr) return;
  for (size_t at = begin; (at = out->find('&', at)) != out->npos; at += 5) {
    out->insert(at + 1, "amp;");
  }
}

void AppendTitle(uint64_t hash, std::string* out) {
  for (int i = 0; i < 4; ++i) {
    if (i > 0) out->push_back(' ');
    *out += Word(hash >> (7 * i));
  }
}

}  // namespace

HtmlPages::HtmlPages(const Web* web)
    : web_(web), blocks_(web->options().seed) {}

size_t HtmlPages::WantedSize(const Ref& ref) const {
  const double u = Unit(web_->HashOf(ref, 40));
  const double share =
      u < 0.5
          ? std::max(std::sqrt(2 * u), kSmallestShare)
          : std::min(std::pow(2 * (1 - u), -1 / kTailExponent), kLargestShare);
  return static_cast<size_t>(kMedianSize * share);
}

void HtmlPages::AppendHead(const Ref& ref, HrefStyle style,
                           std::string* out) const {
  const uint64_t hash = web_->HashOf(ref, 41);
  *out += "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n";
  if (ref.kind != Nasty::kCharset || ref.step > 0) {
    *out += "<meta charset=\"utf-8\">\n";
  } else if (ref.id % 5 == 1) {
    *out +=
        "<meta http-equiv=Content-Type "
        "content='text/html; charset=Shift_JIS'>\n";
  } else if (ref.id % 5 == 4) {
    *out += "<meta charset=utf-16>\n";  // Wrong on purpose: it is UTF-8.
  }
  *out += "<title>";
  if (ref.kind == Nasty::kScriptTitle) {
    *out += "<script>alert('title')</script>\"><img src=x onerror=alert(1)> ";
  }
  AppendTitle(hash, out);
  *out += " &ndash; ";
  *out += web_->hosts().Name(ref.host);
  *out += "</title>\n<meta name=\"description\" content=\"About ";
  AppendTitle(hash >> 28, out);
  *out += "\">\n";
  if (ref.kind == Nasty::kMetaNofollow && ref.step == 0) {
    *out += "<META NAME=\"ROBOTS\" CONTENT=\"NoIndex, NoFollow\">\n";
  }
  if (ref.kind == Nasty::kNoindex && ref.id % 2 == 0) {
    *out += "<meta content='noindex' name='robots'>\n";
  }
  if (ref.kind == Nasty::kBase && ref.step == 0 &&
      style == HrefStyle::kAsServed) {
    *out += "<base href=\"";
    const size_t begin = out->size();
    web_->AppendUrl(ref, out);
    out->resize(out->size() - 5);  // Cuts ".html": the directory of its steps.
    *out += "/not-this-segment\">\n";
    EscapeAmpersands(begin, out);
  }
  if (ref.kind == Nasty::kCanonical) {
    *out += "<link rel=\"canonical\" href=\"";
    const size_t begin = out->size();
    web_->AppendUrl(
        {.host = ref.host, .id = ref.id % web_->hosts().Pages(ref.host)}, out);
    EscapeAmpersands(begin, out);
    *out += "\">\n";
  }
}

void HtmlPages::AppendHref(const Ref& from, uint32_t depth, const Link& link,
                           HrefStyle style, std::string* out) const {
  const size_t begin = out->size();
  HrefForm form = link.form;
  // No relative links on these pages: mirrors have the same bytes under two
  // paths, and a base changes what relative links mean.
  if (from.kind != Nasty::kNone && form == HrefForm::kRelative) {
    form = HrefForm::kRooted;
  }
  if (style == HrefStyle::kPreview) {
    *out += "/_web/";
    *out += web_->hosts().Name(link.target.host);
    form = HrefForm::kRooted;
  }
  switch (form) {
    case HrefForm::kAbsolute:
      *out += web_->IsHttps(link.target.host) && !link.target.http_form
                  ? "https:"
                  : "http:";
      [[fallthrough]];
    case HrefForm::kSchemeRelative:
      *out += "//";
      *out += web_->hosts().Name(link.target.host);
      [[fallthrough]];
    case HrefForm::kRooted:
    case HrefForm::kFragment:
      web_->AppendTarget(link.target, out);
      break;
    case HrefForm::kRelative: {
      for (uint32_t i = 0; i < depth; ++i) *out += "../";
      if (depth == 0) *out += "./";
      const size_t slash = out->size();
      web_->AppendTarget(link.target, out);
      out->erase(slash, 1);
      break;
    }
  }
  EscapeAmpersands(begin, out);
  if (form == HrefForm::kFragment) *out += "#more";
}

void HtmlPages::Append(const Ref& ref, uint64_t version, HrefStyle style,
                       std::string* out) const {
  const size_t begin = out->size();
  thread_local Links links;
  links.clear();
  web_->AppendLinks(ref, &links);
  // A buffer of its own, because the bytes of `out` may move.
  thread_local std::string target;
  target.clear();
  web_->AppendTarget(ref, &target);
  const uint32_t depth = DirectoryDepth(target);
  const uint64_t text = Mix(web_->HashOf(ref, 42), version);

  AppendHead(ref, style, out);
  auto link = links.begin();
  if (link != links.end() && link->kind == LinkKind::kStyle) {
    *out += "<link rel=\"stylesheet\" href=\"";
    AppendHref(ref, depth, *link++, style, out);
    *out += "\">\n";
  }
  *out += kHeadEnd;
  auto append_anchor = [&](const Link& l) {
    *out += l.nofollow ? "<a rel=\"external nofollow\" href=\"" : "<a href=\"";
    AppendHref(ref, depth, l, style, out);
    *out += "\">";
    const uint64_t words = Mix(l.target.id, l.target.host);
    *out += Word(words);
    out->push_back(' ');
    *out += Word(words >> 7);
    *out += "</a>";
  };
  const auto navigation_end = link + std::min<ptrdiff_t>(5, links.end() - link);
  const bool special =
      style == HrefStyle::kAsServed && AppendOddMarkup(*web_, ref, out);
  if (!special) {
    for (; link != navigation_end && link->kind == LinkKind::kAnchor; ++link) {
      *out += "<li>";
      append_anchor(*link);
      *out += "</li>\n";
    }
  } else {
    // AppendOddMarkup has written the links to the page's own steps.
    while (link != links.end() && link->target.kind == ref.kind) ++link;
  }
  *out += "</ul></nav>\n</header>\n<main>\n<h1>";
  AppendTitle(text, out);
  *out += "</h1>\n";
  if (version > 0) {
    fmt::format_to(std::back_inserter(*out), "<p>Revision {}</p>\n", version);
  }

  // Links and text alternate until both have run out.
  const size_t wanted =
      ref.kind == Nasty::kNone ? WantedSize(ref) : size_t{3000};
  uint64_t block = text;
  const uint64_t stride = 1 + text % 500;
  const auto count = static_cast<size_t>(links.end() - link);
  const size_t before_links = out->size() - begin;
  const size_t room = wanted > before_links + kFooter.size()
                          ? wanted - before_links - kFooter.size()
                          : 0;
  for (size_t i = 0; i <= count; ++i) {
    const size_t until = before_links + room * (i + 1) / (count + 1);
    while (out->size() - begin < until) {
      *out += blocks_.Block(block >> 8);
      block += stride << 8;
    }
    if (i == count) break;
    const Link& l = link[static_cast<ptrdiff_t>(i)];
    if (l.kind == LinkKind::kImage) {
      *out += "<figure><img alt=\"A picture\" width=\"1\" src=\"";
      AppendHref(ref, depth, l, style, out);
      *out += "\"></figure>\n";
    } else {
      *out += "<p>See ";
      append_anchor(l);
      *out += " for more.</p>\n";
    }
  }
  *out += "</main>\n";
  *out += kFooter;
}

}  // namespace gannet::fake_web
