#include "tests/fake_web/nasty.h"

#include <fmt/format.h>

namespace gannet::fake_web {
namespace {

using N = Nasty;

const std::vector<NastyInfo>& Table() {
  static const auto& table = *new std::vector<NastyInfo>{
      {N::kNone, "page", "", "an ordinary page"},
      {N::kRobotsMissing, "robots-404", "robots", "no robots.txt: all allowed"},
      {N::kRobotsForbidden, "robots-403", "robots",
       "robots.txt answers 403: all allowed (RFC 9309, 2.3.1.3)"},
      {N::kRobotsError, "robots-500", "robots",
       "robots.txt always answers 500: the whole host is blocked"},
      {N::kRobotsClosed, "robots-closed", "robots",
       "Disallow: / for all: the whole host is blocked"},
      {N::kRobotsRedirect, "robots-redirect", "robots",
       "one to three redirects on the same host lead to the rules"},
      {N::kRobotsHuge, "robots-huge", "robots",
       "520 KiB; what stands after the first 500 KiB closes the host and must "
       "be ignored"},
      {N::kRobotsCrawlDelay, "robots-crawl-delay", "robots",
       "Crawl-delay: 0.2 (on hosts of at most 100 pages)"},
      {N::kRobotsWildcards, "robots-wildcards", "robots",
       "rules with * and $, and an Allow inside a Disallow"},
      {N::kRobotsGroups, "robots-groups", "robots",
       "several groups: gannet's two must be merged, all others are closed "
       "out"},
      {N::kRobotsBom, "robots-bom", "robots", "begins with a UTF-8 BOM"},
      {N::kRobotsGarbage, "robots-garbage", "robots",
       "binary bytes, then an HTML page: no rules"},
      {N::kRobotsSlow, "robots-slow", "robots",
       "the rules come slowly, over --slow"},
      {N::kRobotsEmpty, "robots-empty", "robots", "200 with no bytes"},
      {N::kForbidden, "forbidden", "robots",
       "pages under /private/, /tmp/ and *.cgi: the host's rules may forbid "
       "them"},
      {N::kRedirect, "redirect", "redirects",
       "301, 302, 303, 307 or 308 to an ordinary page, often of another host"},
      {N::kRedirectChain, "redirect-chain", "redirects",
       "two to five redirects to a page that nothing else links to"},
      {N::kRedirectLoop, "redirect-loop", "redirects",
       "one to three redirects in a circle"},
      {N::kNotFound, "not-found", "errors", "404"},
      {N::kGone, "gone", "errors", "410"},
      {N::kError, "error", "errors", "500, always"},
      {N::kErrorRecovers, "error-recovers", "errors",
       "500 on the first one or two tries, then a page"},
      {N::kBusy503, "busy-503", "errors",
       "503 with Retry-After (seconds, at most --retry-after) on the first one "
       "or two tries, then a page"},
      {N::kBusy429, "busy-429", "errors", "the same with 429"},
      {N::kSlow, "slow", "hostile", "a whole page, slowly, over --slow"},
      {N::kStall, "stall", "hostile", "half a page, then silence"},
      {N::kEndless, "endless", "hostile",
       "a body without end, chunked or until close"},
      {N::kGzipBomb, "gzip-bomb", "hostile",
       "256 MiB in some 250 KB of gzip, wanted or not"},
      {N::kShortLength, "short-length", "hostile",
       "Content-Length is more than the bytes that come"},
      {N::kLongLength, "long-length", "hostile",
       "Content-Length is less than the bytes that come (all links are "
       "inside)"},
      {N::kReset, "reset", "hostile",
       "the connection is reset: at once, or within the body"},
      {N::kGarbageStatus, "garbage-status", "hostile", "no HTTP status line"},
      {N::kHugeHeaders, "huge-headers", "hostile", "2 MiB of headers"},
      {N::kCalendar, "calendar", "traps",
       "next month, for --trap-size months (0: to the year 7000)"},
      {N::kGrowingPath, "growing-path", "traps",
       "each page links to a deeper one: deeper/deeper/..."},
      {N::kGrowingQuery, "growing-query", "traps",
       "each page links to one with one more parameter"},
      {N::kSession, "session", "traps",
       "each link carries a new session id, --trap-size times"},
      {N::kCharset, "charset", "pages",
       "windows-1252 (header), Shift_JIS (meta), UTF-16 (BOM), and two lies"},
      {N::kBrokenHtml, "broken-html", "pages",
       "unclosed, unquoted and doubled things; links that only look like "
       "links"},
      {N::kOddLinks, "odd-links", "pages",
       "hrefs with spaces, entities, dots, capitals, ports, fragments; area "
       "and "
       "iframe"},
      {N::kBase, "base", "pages", "relative links that need <base href>"},
      {N::kNonHtml, "non-html", "pages",
       "PDF, PNG, JSON, text and XML with what looks like links"},
      {N::kMirror, "mirror", "pages", "two URLs with the same bytes"},
      {N::kScriptTitle, "script-title", "pages",
       "a title that would run a script if a dashboard did not escape it"},
      {N::kMetaNofollow, "meta-nofollow", "pages",
       "<meta name=robots content=nofollow>: its links may not be followed"},
      {N::kHeaderNofollow, "header-nofollow", "pages",
       "X-Robots-Tag: nofollow, and one for another agent"},
      {N::kNofollowLink, "nofollow-link", "pages",
       "a page that only rel=nofollow links lead to"},
      {N::kNoindex, "noindex", "pages",
       "noindex by meta or header: its links are followed"},
      {N::kCanonical, "canonical", "pages",
       "rel=canonical names an ordinary page"},
      {N::kChanges, "changes", "changes",
       "ordinary pages change at known rates (ETag, Last-Modified, 304)"},
      {N::kPlain, "plain", "", "a page of the /odd/ part with nothing wrong"},
      {N::kImage, "image", "", "a small image"},
      {N::kStyle, "style", "", "a style sheet"},
      {N::kRobots, "robots", "", "an ordinary robots.txt"},
      {N::kHelp, "help", "", "a page for people"},
      {N::kAbsent, "absent", "", "a URL that this web does not have: 404"},
      {N::kBadRequest, "bad-request", "", "not HTTP: 400"},
      {N::kHttpToHttps, "http-to-https", "",
       "the http form of an https host's URL: 301 to https"},
      {N::kTlsExpired, "tls-expired", "tls",
       "the certificate expired in 2021 (tls kinds need --https)"},
      {N::kTlsSelfSigned, "tls-self-signed", "tls",
       "the certificate is signed by itself"},
      {N::kTlsWrongName, "tls-wrong-name", "tls",
       "the certificate is another host's"},
      {N::kTlsUnknownIssuer, "tls-unknown-issuer", "tls",
       "the certificate is signed by a CA that nobody trusts"},
      {N::kTlsStall, "tls-stall", "tls",
       "the ClientHello is read, then silence"},
      {N::kTlsOldProtocol, "tls-old-protocol", "tls",
       "speaks TLS 1.0 and 1.1 only"},
      {N::kTlsPlainHttp, "tls-plain-http", "tls",
       "answers the ClientHello with a plain HTTP 400 and closes"},
  };
  return table;
}

bool Selectable(const NastyInfo& info) { return !info.group.empty(); }

}  // namespace

const std::vector<NastyInfo>& AllNasty() { return Table(); }

const NastyInfo& Info(Nasty kind) { return Table()[static_cast<size_t>(kind)]; }

Nasty NastyByName(std::string_view name) {
  for (const NastyInfo& info : Table()) {
    if (info.name == name) return info.kind;
  }
  return Nasty::kCount;
}

absl::StatusOr<NastySet> ParseNasty(std::string_view list) {
  NastySet set;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view item = list.substr(0, comma);
    list = comma == list.npos ? std::string_view() : list.substr(comma + 1);
    const bool value = item.empty() || item[0] != '-';
    if (!value) item.remove_prefix(1);
    if (item.empty() || item == "none") continue;
    bool known = false;
    for (const NastyInfo& info : Table()) {
      if (!Selectable(info)) continue;
      if (item == "all" || item == info.name || item == info.group) {
        set.set(static_cast<size_t>(info.kind), value);
        known = true;
      }
    }
    if (!known) {
      return absl::InvalidArgumentError(fmt::format(
          "no nasty kind is named '{}'; 'gannet-fakeweb kinds' lists them",
          item));
    }
  }
  return set;
}

std::string FormatNasty(const NastySet& set) {
  const NastySet all = ParseNasty("all").value();
  if (set == all) return "all";
  std::string list;
  for (const NastyInfo& info : Table()) {
    if (!Has(set, info.kind)) continue;
    if (!list.empty()) list += ',';
    list += info.name;
  }
  return list.empty() ? "none" : list;
}

}  // namespace gannet::fake_web
