// Markup that a parser must read as the HTML standard says. Each link leads to
// one step of its page; a crawler that misses step 5 reads the case with that
// number wrongly.
#include <fmt/format.h>

#include "tests/fake_web/html_page.h"

namespace gannet::fake_web {
namespace {

std::string TargetOf(const Web& web, Ref ref, int step) {
  ref.step = static_cast<uint16_t>(step);
  std::string target;
  web.AppendTarget(ref, &target);
  return target;
}

void AppendOddLinks(const Web& web, const Ref& ref, std::string* out) {
  const std::string host(web.hosts().Name(ref.host));
  std::string loud = host;
  for (char& c : loud) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  auto t = [&](int step) { return TargetOf(web, ref, step); };
  const bool https = web.IsHttps(ref.host);
  // The page is /odd/odd-links/NAME.html, its steps /odd/odd-links/NAME/N.html.
  const std::string relative = t(1).substr(t(1).rfind("/odd-links/") + 11);
  const std::string directory = relative.substr(0, relative.rfind('/'));
  fmt::format_to(
      std::back_inserter(*out),
      "<li><a href=\"{}\">relative</a></li>\n"
      "<li><a href=\" \t{}\n\">spaces around</a></li>\n"
      "<li><a href=\"{}://{}:{}{}\">capitals and the port</a></li>\n"
      "<li><a href=\"/odd/./odd-links/none/../{}/4.html\">dots</a></li>\n"
      "<li><a href=\"{}#a?b/../c\">fragment</a></li>\n"
      "<li><a "
      "href=\"&#x2f;odd&sol;odd-links&#47;{}/6.html\">entities</a></li>\n"
      "<li><a href=\"/odd/odd-\nlinks/{}/\t7.html\">line break "
      "within</a></li>\n"
      "<li><a href=\"\\odd\\odd-links\\{}\\8.html\">backslashes</a></li>\n"
      "<li><a href=\"//{}/odd/odd-links/{}/x/%2E%2e/9.html\">coded dots</a>"
      "</li>\n"
      "</ul><map name=m><area shape=rect href=\"{}\" alt=area></map>\n"
      "<iframe src=\"{}\"></iframe><ul>\n"
      "<li><a href=\"mailto:nobody@{}\">mail</a> "
      "<a href=\"javascript:void(0)\">script</a> <a href=\"#top\">here</a> "
      "<a href=\"http://[bad\">bad</a> <a name=x>no href</a> "
      "<a data-href=\"/never/data.html\">data</a></li>\n",
      relative, t(2), https ? "HTTPS" : "HTTP", loud, https ? "443" : "80",
      t(3), directory, t(5), directory, directory, directory, host, directory,
      t(10), t(11), host);
}

void AppendBrokenHtml(const Web& web, const Ref& ref, std::string* out) {
  auto t = [&](int step) { return TargetOf(web, ref, step); };
  fmt::format_to(
      std::back_inserter(*out),
      "<li><a href={}>no quotes</a>\n"
      "<li><A CLASS='x>y' HREF='{}'>single quotes, > in a value</A>\n"
      "<li><b><a href=\"{}\">nested</b> wrong</a></i></li></div>\n"
      "<li><a href=\"{}\" href=\"/never/second.html\">doubled</a>\n"
      "<li><a\nhref\n=\n\"{}\"\n>spread out</a>\n"
      "<li><a/href=\"{}\"/>slashes</a>\n"
      "<li><a title=\"1 < 2\" href=\"{}\">less-than < here & there</a>\n"
      "<li><a href=\"{}\">never closed\n"
      "<!-- <a href=\"{}\">in a comment</a> --->\n"
      "<script>document.write('<a href=\"{}\">in a script</a>')</script>\n"
      "<textarea><a href=\"{}\">in a textarea</a></textarea>\n"
      "<style>/* <a href=\"{}\">in a style</a> */</style>\n"
      "< a href=\"{}\">not a tag</ a>\n"
      "</p></p><p <b>stray</b></table>\n",
      t(1), t(2), t(3), t(4), t(5), t(6), t(7), t(8), t(9), t(10), t(11), t(12),
      t(13));
}

}  // namespace

bool AppendOddMarkup(const Web& web, const Ref& ref, std::string* out) {
  if (ref.step > 0) return false;
  switch (ref.kind) {
    case Nasty::kOddLinks:
      AppendOddLinks(web, ref, out);
      return true;
    case Nasty::kBrokenHtml:
      AppendBrokenHtml(web, ref, out);
      return true;
    case Nasty::kBase:
      *out += "<li><a href=\"1.html\">below the base</a></li>\n";
      return true;
    default:
      return false;
  }
}

OddCharset EncodeOddCharset(const Ref& ref, std::string* body) {
  if (ref.kind != Nasty::kCharset || ref.step > 0) return {};
  OddCharset odd{.content_type = "text/html", .is_odd = true};
  auto insert = [body](std::string_view text) {
    body->insert(body->find("<main>"), text);
  };
  auto latin1 = [body] {
    for (size_t at = 0; (at = body->find("\xC3\xAF", at)) != body->npos; ++at) {
      body->replace(at, 2, "\xEF");
    }
  };
  switch (ref.id % 5) {
    case 0:
      latin1();
      insert("<p>Caf\xE9 \x93quoted\x94</p>\n");
      odd.content_type = "text/html; charset=windows-1252";
      break;
    case 1:
      insert("<p>\x83\x65\x83\x58\x83\x67</p>\n");
      break;
    case 2: {
      // Little-endian; only the BOM says so.
      std::string wide = "\xFF\xFE";
      for (const char c : *body) {
        const bool ascii = static_cast<unsigned char>(c) < 0x80;
        wide.push_back(ascii ? c : '?');
        wide.push_back('\0');
      }
      *body = std::move(wide);
      break;
    }
    case 3:
      latin1();
      insert("<p>Not UTF-8: caf\xE9</p>\n");
      odd.content_type = "text/html; charset=\"UTF-8\"";
      break;
    default:
      insert("<p>UTF-8 after all: caf\xC3\xA9</p>\n");
      break;
  }
  return odd;
}

}  // namespace gannet::fake_web
