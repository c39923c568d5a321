// Answers that are wrong on purpose; nasty.cc describes each in a line.
#include <fmt/format.h>
#include <zlib.h>

#include "tests/fake_web/mix.h"
#include "tests/fake_web/responder.h"
#include "tests/fake_web/words.h"
#include "tests/fake_web/write_reply.h"

namespace gannet::fake_web {
namespace {

constexpr size_t kBombBytes = size_t{256} << 20;
constexpr size_t kHugeHeaderBytes = size_t{2} << 20;
constexpr size_t kEndlessBlock = 64 * 1024;

constexpr size_t kBombBlock = size_t{1} << 20;

// One gzip member (RFC 1952): a small page, then spaces. After a full flush
// deflate starts afresh on a byte boundary, so a block of spaces is compressed
// once and repeated: making the bomb takes milliseconds instead of a second, in
// which the thread would serve no other request.
std::string MakeBomb() {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  auto pack = [&stream](std::string_view text, int flush) {
    std::string out(64 * 1024, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, flush);
    out.erase(out.size() - stream.avail_out);
    return out;
  };
  auto crc_of = [](std::string_view text) {
    return crc32(0, reinterpret_cast<const Bytef*>(text.data()),
                 static_cast<uInt>(text.size()));
  };
  constexpr std::string_view kPage =
      "<!DOCTYPE html><title>Bomb</title><p>Spaces follow.";
  const std::string spaces(kBombBlock, ' ');
  std::string bomb("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  bomb += pack(kPage, Z_FULL_FLUSH);
  const std::string block = pack(spaces, Z_FULL_FLUSH);
  uLong crc = crc_of(kPage);
  for (size_t i = 0; i < kBombBytes / kBombBlock; ++i) {
    bomb += block;
    crc = crc32_combine(crc, crc_of(spaces), kBombBlock);
  }
  bomb += pack("", Z_FINISH);
  deflateEnd(&stream);
  for (const uLong number : {crc, uLong{kPage.size() + kBombBytes}}) {
    for (int shift = 0; shift < 32; shift += 8) {
      bomb.push_back(static_cast<char>(number >> shift & 0xff));
    }
  }
  return bomb;
}

std::string_view EndlessText() {
  static const std::string& text = *new std::string([] {
    std::string t;
    while (t.size() < kEndlessBlock) t += "<p>And so on and on.</p>\n";
    t.resize(kEndlessBlock);
    return t;
  }());
  return text;
}

std::string_view EndlessChunk() {
  static const std::string& chunk = *new std::string(
      fmt::format("{:x}\r\n{}\r\n", kEndlessBlock, EndlessText()));
  return chunk;
}

// Writes head and body as they are, for answers with a wrong Content-Length.
void WriteRaw(int status, std::string_view head, std::string_view body,
              Reply* reply) {
  reply->status = status;
  reply->bytes = fmt::format("{}\r\n", head);
  reply->head_size = reply->bytes.size();
  reply->bytes += body;
}

constexpr std::string_view kOkHtml =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n";

}  // namespace

uint32_t Responder::CountTry(const Ref& ref) {
  storage::MutexLock lock(&mu_);
  return tries_[ref]++;
}

void Responder::RespondOdd(const Request& request, const Ref& ref,
                           Reply* reply) {
  if (const auto target = web_->Redirect(ref)) {
    static constexpr int kStatuses[] = {301, 302, 303, 307, 308};
    const uint64_t hash = Mix(web_->HashOf(ref, 60), ref.step);
    std::string location;
    // Location may be relative (RFC 9110, 10.2.2).
    if (target->host == ref.host && hash % 3 == 0) {
      web_->AppendTarget(*target, &location);
    } else {
      web_->AppendUrl(*target, &location);
    }
    WriteShortReply(kStatuses[(hash >> 8) % 5],
                    fmt::format("Location: {}\r\n", location), reply);
    return;
  }
  switch (ref.kind) {
    case Nasty::kNotFound:
      WriteShortReply(404, "", reply);
      return;
    case Nasty::kGone:
      WriteShortReply(410, "", reply);
      return;
    case Nasty::kError:
      WriteShortReply(500, "", reply);
      return;
    case Nasty::kErrorRecovers:
    case Nasty::kBusy503:
    case Nasty::kBusy429: {
      if (CountTry(ref) >= web_->RefusedTries(ref)) break;
      if (ref.kind == Nasty::kErrorRecovers) {
        WriteShortReply(500, "", reply);
        return;
      }
      const uint32_t most = web_->options().retry_after_seconds;
      const uint64_t seconds = most == 0 ? 0 : 1 + web_->HashOf(ref, 61) % most;
      WriteShortReply(ref.kind == Nasty::kBusy503 ? 503 : 429,
                      fmt::format("Retry-After: {}\r\n", seconds), reply);
      return;
    }
    case Nasty::kHeaderNofollow:
      if (ref.step > 0) break;
      RespondHtml(request, ref,
                  "X-Robots-Tag: otherbot: noindex\r\n"
                  "x-robots-tag: noarchive, nofollow\r\n",
                  reply);
      return;
    case Nasty::kNoindex:
      if (ref.id % 2 == 0) break;
      RespondHtml(request, ref,
                  "X-Robots-Tag: noindex\r\n"
                  "X-Robots-Tag: otherbot: nofollow\r\n",
                  reply);
      return;
    case Nasty::kNonHtml:
      RespondNonHtml(ref, reply);
      return;
    case Nasty::kSlow:
      reply->drip = web_->options().slow;
      break;
    case Nasty::kStall:
    case Nasty::kEndless:
    case Nasty::kGzipBomb:
    case Nasty::kShortLength:
    case Nasty::kLongLength:
    case Nasty::kReset:
    case Nasty::kGarbageStatus:
    case Nasty::kHugeHeaders:
      RespondHostile(ref, reply);
      return;
    default:
      break;
  }
  RespondHtml(request, ref, "", reply);
}

void Responder::RespondHostile(const Ref& ref, Reply* reply) {
  std::string body;
  pages_.Append(ref, 0, HrefStyle::kAsServed, &body);
  reply->end = ReplyEnd::kClose;
  switch (ref.kind) {
    case Nasty::kStall:
      reply->end = ReplyEnd::kStall;
      WriteRaw(200,
               fmt::format("{}Content-Length: {}\r\n", kOkHtml, body.size()),
               body.substr(0, body.size() / 2), reply);
      break;
    case Nasty::kEndless: {
      const bool chunked = ref.id % 2 == 0;
      reply->end = ReplyEnd::kEndless;
      reply->endless = chunked ? EndlessChunk() : EndlessText();
      WriteRaw(
          200,
          fmt::format("{}{}", kOkHtml,
                      chunked ? "Transfer-Encoding: chunked\r\n"
                              : "Connection: close\r\n"),
          chunked ? fmt::format("{:x}\r\n{}\r\n", body.size(), body) : body,
          reply);
      break;
    }
    case Nasty::kGzipBomb: {
      static const std::string& bomb = *new std::string(MakeBomb());
      WriteReply(200, "Content-Type: text/html\r\nContent-Encoding: gzip\r\n",
                 bomb, reply);
      break;
    }
    case Nasty::kShortLength:
      WriteRaw(
          200,
          fmt::format("{}Content-Length: {}\r\n", kOkHtml, body.size() + 5000),
          body, reply);
      break;
    case Nasty::kLongLength:
      WriteRaw(200,
               fmt::format("{}Content-Length: {}\r\n", kOkHtml, body.size()),
               body + "HTTP/1.1 200 OK\r\n\r\nnot asked for", reply);
      break;
    case Nasty::kReset:
      reply->end = ReplyEnd::kReset;
      if (ref.id % 2 == 0) break;  // Resets without sending a byte.
      WriteRaw(200,
               fmt::format("{}Content-Length: {}\r\n", kOkHtml, body.size()),
               body.substr(0, body.size() / 2), reply);
      break;
    case Nasty::kGarbageStatus:
      reply->bytes = ref.id % 2 == 0
                         ? "BANANA/9.9 two hundred, fine\r\n\r\n" + body
                         : std::string("\x16\x03\x01\x00\xff garbage\n", 14);
      break;
    default: {  // kHugeHeaders
      std::string head(kOkHtml);
      for (int i = 0; head.size() < kHugeHeaderBytes; ++i) {
        fmt::format_to(std::back_inserter(head), "X-Padding-{}: {:x>1000}\r\n",
                       i, "");
      }
      fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n",
                     body.size());
      WriteRaw(200, head, body, reply);
    }
  }
}

void Responder::RespondNonHtml(const Ref& ref, Reply* reply) {
  // A transparent PNG of one pixel.
  static constexpr char kPngBytes[] =
      "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4"
      "\x89\0\0\0\nIDATx\x9c\x63\0\1\0\0\5\0\1\r\n-\xb4\0\0\0\0IEND\xae\x42`"
      "\x82";
  constexpr std::string_view kPng(kPngBytes, sizeof(kPngBytes) - 1);
  const std::string words = fmt::format("{} {}", Word(web_->HashOf(ref, 62)),
                                        Word(web_->HashOf(ref, 62) >> 8));
  if (ref.kind == Nasty::kImage || ref.id % 5 == 1) {
    WriteReply(200, "Content-Type: image/png\r\n", kPng, reply);
    return;
  }
  switch (ref.id % 5) {
    case 0:
      WriteReply(200, "Content-Type: application/pdf\r\n",
                 fmt::format("%PDF-1.4\n1 0 obj << /URI (/never/pdf) >>\n"
                             "<a href=\"/never/pdf.html\">{}</a>\n%%EOF\n",
                             words),
                 reply);
      break;
    case 2:
      WriteReply(200, "Content-Type: application/json\r\n",
                 fmt::format("{{\"title\": \"{}\", \"html\": "
                             "\"<a href='/never/json.html'>no</a>\"}}\n",
                             words),
                 reply);
      break;
    case 3:
      WriteReply(200, "Content-Type: text/plain; charset=utf-8\r\n",
                 fmt::format("<a href=\"/never/text.html\">{}</a>\n", words),
                 reply);
      break;
    default:
      WriteReply(200, "Content-Type: application/xml\r\n",
                 fmt::format("<?xml version=\"1.0\"?>\n<a "
                             "href=\"/never/xml.html\">{}</a>\n",
                             words),
                 reply);
  }
}

}  // namespace gannet::fake_web
