// Ordinary answers. Those that are wrong on purpose are in responder_odd.cc.
#include "tests/fake_web/responder.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <time.h>

#include <memory>

#include "tests/fake_web/mix.h"
#include "tests/fake_web/robots_file.h"
#include "tests/fake_web/write_reply.h"

namespace gannet::fake_web {
namespace {

// The fastest level, because pages are made and compressed for each request.
constexpr int kGzipLevel = 1;

void Gzip(std::string* body) {
  struct Deleter {
    void operator()(libdeflate_compressor* c) const {
      libdeflate_free_compressor(c);
    }
  };
  thread_local std::unique_ptr<libdeflate_compressor, Deleter> compressor(
      libdeflate_alloc_compressor(kGzipLevel));
  std::string packed;
  packed.resize(libdeflate_gzip_compress_bound(compressor.get(), body->size()));
  packed.resize(libdeflate_gzip_compress(compressor.get(), body->data(),
                                         body->size(), packed.data(),
                                         packed.size()));
  *body = std::move(packed);
}

}  // namespace

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 410:
      return "Gone";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

void WriteReply(int status, std::string_view headers, std::string_view body,
                Reply* reply) {
  reply->status = status;
  std::string& out = reply->bytes;
  out += "HTTP/1.1 ";
  const fmt::format_int number(status);
  out.append(number.data(), number.size());
  out.push_back(' ');
  out += ReasonOf(status);
  out += "\r\n";
  out += headers;
  if (status != 304) {
    out += "Content-Length: ";
    const fmt::format_int length(body.size());
    out.append(length.data(), length.size());
    out += "\r\n";
  }
  if (reply->end != ReplyEnd::kKeepAlive) out += "Connection: close\r\n";
  out += "\r\n";
  reply->head_size = out.size();
  if (status != 304) out += body;
}

void WriteShortReply(int status, std::string_view headers, Reply* reply) {
  WriteReply(status, fmt::format("Content-Type: text/html\r\n{}", headers),
             fmt::format("<!DOCTYPE html><title>{0} {1}</title><h1>{1}</h1>\n",
                         status, ReasonOf(status)),
             reply);
}

std::string HttpDate(absl::Time time) {
  static constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed",
                                               "Thu", "Fri", "Sat"};
  static constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr",
                                                 "May", "Jun", "Jul", "Aug",
                                                 "Sep", "Oct", "Nov", "Dec"};
  const time_t seconds = absl::ToTimeT(time);
  tm parts;
  gmtime_r(&seconds, &parts);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                     kDays[parts.tm_wday], parts.tm_mday, kMonths[parts.tm_mon],
                     parts.tm_year + 1900, parts.tm_hour, parts.tm_min,
                     parts.tm_sec);
}

Responder::Responder(const Web* web, const WebClock* clock)
    : web_(web), clock_(clock), pages_(web) {}

void Responder::RespondBad(ParseResult why, Reply* reply) {
  reply->Clear();
  reply->kind = Nasty::kBadRequest;
  reply->end = ReplyEnd::kClose;
  WriteShortReply(why == ParseResult::kTooLong ? 431 : 400, "", reply);
}

void Responder::Respond(const Request& request, uint32_t asker, Reply* reply) {
  reply->Clear();
  if (!request.keep_alive) reply->end = ReplyEnd::kClose;
  const uint32_t host = web_->hosts().Find(request.host);
  if (request.method != "GET" && request.method != "HEAD") {
    reply->kind = Nasty::kBadRequest;
    WriteShortReply(405, "Allow: GET, HEAD\r\n", reply);
  } else if (host == Hosts::kNoHost) {
    RespondPerson(request, reply);
  } else {
    reply->delay = web_->Latency(host, asker);
    const bool https = web_->IsHttps(host);
    if (https && !request.tls) {
      reply->kind = Nasty::kHttpToHttps;
      WriteShortReply(301,
                      fmt::format("Location: https://{}{}\r\n",
                                  web_->hosts().Name(host), request.target),
                      reply);
    } else if (request.tls && !https) {
      reply->kind = Nasty::kAbsent;
      WriteShortReply(404, "", reply);
    } else if (IsRobotsTarget(request.target)) {
      RespondRobots(request, host, reply);
    } else if (const auto ref = web_->Find(host, request.target)) {
      RespondPage(request, *ref, reply);
    } else {
      reply->kind = Nasty::kAbsent;
      WriteShortReply(404, "", reply);
    }
  }
  if (request.method == "HEAD" && reply->head_size > 0) {
    reply->bytes.resize(reply->head_size);
    if (reply->end > ReplyEnd::kClose) reply->end = ReplyEnd::kClose;
  }
}

void Responder::RespondRobots(const Request& request, uint32_t host,
                              Reply* reply) {
  const RobotsFile file = RobotsFileOf(*web_, host, request.target);
  reply->kind = file.kind;
  if (file.slow) reply->drip = web_->options().slow;
  if (file.status == 302) {
    WriteShortReply(302, fmt::format("Location: {}\r\n", file.text), reply);
  } else {
    WriteReply(file.status, "Content-Type: text/plain\r\n", file.text, reply);
  }
}

void Responder::RespondPage(const Request& request, const Ref& ref,
                            Reply* reply) {
  reply->kind = ref.kind;
  switch (ref.kind) {
    case Nasty::kNone:
      RespondHtml(request, ref, "", reply);
      break;
    case Nasty::kStyle:
      WriteReply(200, "Content-Type: text/css\r\n",
                 "body { color: #222 } /* a style sheet */\n", reply);
      break;
    case Nasty::kImage:
      RespondNonHtml(ref, reply);
      break;
    default:
      RespondOdd(request, ref, reply);
  }
}

void Responder::RespondHtml(const Request& request, const Ref& ref,
                            std::string_view extra_headers, Reply* reply) {
  thread_local std::string headers;
  thread_local std::string body;
  const bool changes = Has(web_->options().nasty, Nasty::kChanges);
  const absl::Time now = changes ? clock_->Now() : absl::UnixEpoch();
  const uint64_t version = web_->VersionAt(ref, now);
  headers.clear();
  if (ref.kind == Nasty::kNone) {
    const std::string etag =
        fmt::format("\"{:x}-{}\"", web_->HashOf(ref, 50) >> 16, version);
    const std::string modified = HttpDate(web_->LastModified(ref, now));
    fmt::format_to(std::back_inserter(headers),
                   "ETag: {}\r\nLast-Modified: {}\r\n", etag, modified);
    // RFC 9110, 13.2.2: If-Modified-Since counts only without If-None-Match.
    // A date that is not exactly the page's is answered in full, as servers
    // may.
    const bool same = !request.if_none_match.empty()
                          ? request.if_none_match == etag
                          : request.if_modified_since == modified;
    if (same) {
      WriteReply(304, headers, "", reply);
      return;
    }
  }
  headers += extra_headers;
  body.clear();
  pages_.Append(ref, version, HrefStyle::kAsServed, &body);
  const OddCharset charset = EncodeOddCharset(ref, &body);
  headers += "Content-Type: ";
  headers += charset.is_odd ? charset.content_type : "text/html; charset=utf-8";
  headers += "\r\n";
  if (web_->options().gzip) {
    headers += "Vary: Accept-Encoding\r\n";
    if (request.accepts_gzip) {
      headers += "Content-Encoding: gzip\r\n";
      Gzip(&body);
    }
  }
  WriteReply(200, headers, body, reply);
}

}  // namespace gannet::fake_web
