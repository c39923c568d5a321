// The page that people see when they open the server in a browser. Unknown host
// names get it, so that http://127.0.0.1:PORT/ explains itself; robots.txt
// keeps crawlers out.
#include <fmt/format.h>

#include <algorithm>

#include "tests/fake_web/responder.h"
#include "tests/fake_web/write_reply.h"

namespace gannet::fake_web {
namespace {

constexpr std::string_view kPreview = "/_web/";
constexpr std::string_view kHtml = "Content-Type: text/html; charset=utf-8\r\n";

std::string Escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

// What is special about a host.
std::string HostRemark(const Web& web, uint32_t host) {
  std::string remark(web.IsHttps(host) ? "https" : "");
  for (const Nasty kind : {web.RobotsKind(host), web.TlsKind(host)}) {
    if (kind == Nasty::kNone) continue;
    if (!remark.empty()) remark += ", ";
    remark += Name(kind);
  }
  return remark;
}

std::string PreviewLink(const Web& web, const Ref& ref) {
  std::string target;
  web.AppendTarget(ref, &target);
  const std::string url =
      Escape(fmt::format("{}{}", web.hosts().Name(ref.host), target));
  return fmt::format("<a href=\"{}{}\">{}</a>", kPreview, url, url);
}

// The ports as --connect-to takes them: "8080", or "8080,8443" with TLS.
std::string Ports(std::string_view asked_host, uint16_t port,
                  uint16_t tls_port) {
  if (tls_port != 0) return fmt::format("{},{}", port, tls_port);
  const size_t colon = asked_host.rfind(':');
  return std::string(colon == asked_host.npos ? "80"
                                              : asked_host.substr(colon + 1));
}

std::string HelpPage(const Web& web, const std::string& ports, bool tls) {
  // The first of Web::Seeds(), without the search for the others of a graph.
  const std::string seed = web.Url(Ref{});
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<title>A fake web</title><style>body {{ font: 16px/1.5 sans-serif; "
      "max-width: 50em; margin: 2em auto; padding: 0 1em }} pre, code {{ "
      "background: #eee; padding: .2em .4em }} td {{ padding: .1em 1em .1em 0; "
      "vertical-align: top }}</style></head><body>\n"
      "<h1>A fake web</h1>\n"
      "<p>This server holds a whole web of <b>{} hosts</b> and <b>{} "
      "pages</b>, made from the seed {}; none of it exists in files. Which "
      "host "
      "is meant is said by the request's Host header, so a browser sees this "
      "page; the links below show pages of the web.</p>\n"
      "<h2>Crawl it</h2>\n<pre>gannet crawl {} --scope any --connect-to 127.0.0.0/8:{} "
      "{}--delay 0.02 --data DIR</pre>\n"
      "{}<p>Nasty things in it: {}.</p>\n<h2>Hosts</h2>\n<table>\n",
      web.hosts().count(), web.hosts().pages(), web.options().seed, seed,
      Escape(ports), tls ? "--ca-file FILE " : "",
      tls ? fmt::format("<p>A share of {} of the hosts is https; "
                        "<code>gannet-fakeweb ca --seed {} &gt; FILE</code> "
                        "writes the CA that their certificates are signed "
                        "by.</p>\n",
                        web.options().https_share, web.options().seed)
          : "",
      FormatNasty(web.options().nasty));
  const uint32_t shown = std::min(web.hosts().count(), uint32_t{30});
  for (uint32_t rank = 0; rank < shown; ++rank) {
    const uint32_t host = web.hosts().ByRank(rank);
    fmt::format_to(std::back_inserter(page),
                   "<tr><td>{}</td><td>{} pages</td><td>{}</td></tr>\n",
                   PreviewLink(web, {.host = host}), web.hosts().Pages(host),
                   HostRemark(web, host));
  }
  page += "</table>\n";
  if (shown < web.hosts().count()) {
    fmt::format_to(std::back_inserter(page), "<p>and {} smaller ones.</p>\n",
                   web.hosts().count() - shown);
  }
  page += "</body></html>\n";
  return page;
}

// Odd pages behave oddly only to crawlers; people see a page that explains it.
std::string OddPreview(const Web& web, const Ref& ref) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<meta charset=\"utf-8\"><title>{0}</title>\n"
      "<h1>{0}</h1>\n<p>{1}</p>\n<p>Its URL is <code>{2}</code></p>\n<ul>\n",
      Name(ref.kind), Escape(Info(ref.kind).what), Escape(web.Url(ref)));
  if (const auto target = web.Redirect(ref)) {
    fmt::format_to(std::back_inserter(page), "<li>redirects to {}</li>\n",
                   PreviewLink(web, *target));
  }
  Links links;
  web.AppendLinks(ref, &links);
  for (const Link& link : links) {
    fmt::format_to(std::back_inserter(page), "<li>{}{}</li>\n",
                   PreviewLink(web, link.target),
                   link.nofollow ? " (nofollow)" : "");
  }
  page += "</ul>\n<p><a href=\"/\">The fake web</a></p>\n";
  return page;
}

}  // namespace

void Responder::RespondPerson(const Request& request, Reply* reply) {
  reply->kind = Nasty::kHelp;
  if (request.target == "/robots.txt") {
    WriteReply(200, "Content-Type: text/plain\r\n",
               "User-agent: *\nDisallow: /\n", reply);
    return;
  }
  if (request.target == "/") {
    WriteReply(
        200, kHtml,
        HelpPage(*web_, Ports(request.host, port_, tls_port_), tls_port_ != 0),
        reply);
    return;
  }
  if (request.target.starts_with(kPreview)) {
    const std::string_view rest = request.target.substr(kPreview.size());
    const size_t slash = rest.find('/');
    const uint32_t host = web_->hosts().Find(rest.substr(0, slash));
    const auto ref =
        host == Hosts::kNoHost
            ? std::nullopt
            : web_->Find(host, slash == rest.npos ? "/" : rest.substr(slash));
    if (ref && (ref->kind == Nasty::kImage || ref->kind == Nasty::kStyle)) {
      RespondPage(request, *ref, reply);
      return;
    }
    if (ref) {
      std::string body;
      if (ref->kind == Nasty::kNone) {
        pages_.Append(*ref, web_->VersionAt(*ref, clock_->Now()),
                      HrefStyle::kPreview, &body);
      } else {
        body = OddPreview(*web_, *ref);
      }
      WriteReply(200, kHtml, body, reply);
      return;
    }
  }
  WriteShortReply(404, "", reply);
}

}  // namespace gannet::fake_web
