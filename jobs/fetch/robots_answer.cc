#include "jobs/fetch/robots_answer.h"

#include <fmt/format.h>

#include "jobs/fetch/robots.h"
#include "jobs/parse/content_decoder.h"
#include "storage/archive/http_message.h"

namespace gannet::jobs {
namespace {

constexpr int kMaxRedirects = 5;  // RFC 9309, 2.3.1.2.

}  // namespace

std::string OriginOf(const storage::Url& url) {
  const uint16_t usual = url.is_https() ? 443 : 80;
  const std::string_view scheme = url.is_https() ? "https" : "http";
  return url.port() == usual
             ? fmt::format("{}://{}", scheme, url.host())
             : fmt::format("{}://{}:{}", scheme, url.host(), url.port());
}

RobotsAnswer ReadRobotsAnswer(const Response& response, const std::string& url,
                              int redirects) {
  RobotsAnswer answer;
  answer.status = static_cast<uint32_t>(response.status);
  const storage::HttpHead head = storage::SplitHttpResponse(response.head);
  if (storage::IsRedirect(response.status)) {
    storage::Url from;
    storage::Url::Parse(url, nullptr, from);
    storage::Url to;
    if (redirects < kMaxRedirects &&
        storage::Url::Parse(head.Get("Location"), &from, to) ==
            storage::UrlOutcome::kOk) {
      answer.next_url = to.href();
    } else {
      // A chain of redirects that is too long, or leads nowhere, means that the
      // file does not exist.
      answer.status = 404;
    }
    return answer;
  }
  if (response.status < 200 || response.status >= 300) return answer;
  // Some servers compress it though it was asked for uncompressed.
  ContentDecoder decoder(4 * RobotsRules::kMaxBytes);
  std::string_view text;
  if (decoder.Decode(head.Get("Content-Encoding"), response.body, text) !=
      DecodeOutcome::kOk) {
    answer.status = 0;
    return answer;
  }
  answer.text = std::string(text.substr(0, RobotsRules::kMaxBytes));
  return answer;
}

}  // namespace gannet::jobs
