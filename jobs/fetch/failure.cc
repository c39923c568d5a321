#include "jobs/fetch/failure.h"

#include <iterator>

namespace gannet::jobs {
namespace {

struct Described {
  std::string_view name;
  std::string_view words;
};

// In the order of the enumeration.
constexpr Described kDescribed[] = {
    {"none", "no failure"},
    {"name_not_found", "the name does not exist"},
    {"name_no_answer", "no DNS server answered"},
    {"address_refused", "the address may not be connected to"},
    {"connect_refused", "the server refuses connections"},
    {"connect_timeout", "connecting took too long"},
    {"connect_unreachable", "there is no route to the server"},
    {"connect_failed", "the server cannot be connected to"},
    {"tls_expired", "the certificate has expired, or is not valid yet"},
    {"tls_self_signed", "the certificate is signed by itself"},
    {"tls_unknown_issuer", "the certificate's issuer is not trusted"},
    {"tls_wrong_name", "the certificate is for another name"},
    {"tls_certificate", "the certificate is not valid"},
    {"tls_old_protocol", "the server knows only old versions of TLS"},
    {"tls_not_tls", "the server does not speak TLS on this port"},
    {"tls_timeout", "the TLS handshake took too long"},
    {"tls_handshake", "the TLS handshake failed"},
    {"first_byte", "no answer came in time"},
    {"headers_too_large", "the answer's headers are too large"},
    {"reset", "the server closed the connection without an answer"},
    {"garbage", "the answer is not HTTP"},
    {"timeout", "the page took too long"},
    {"too_slow", "the server sends too slowly"},
    {"too_large", "the page is too large"},
    {"cut_short", "the connection ended before the page did"},
    {"memory", "too many large pages at once for this machine's memory"},
    {"no_socket", "this machine has no file handle or port left"},
    {"stopped", "stopped here"},
    {"internal", "the request could not be made"},
};

constexpr Described kOthers[] = {
    {kind::kHttp3xx, "a redirect without a place to go to (3xx)"},
    {kind::kHttp4xx, "the server refused the request (4xx)"},
    {kind::kHttp5xx, "the server failed (5xx)"},
    {kind::kHttpOther, "a status that HTTP does not know"},
    {kind::kRedirects, "too many redirects in a row"},
    {kind::kLocation, "a redirect to something that is not a URL"},
    {kind::kDecodedTooLarge, "the page is too large when decoded"},
    {kind::kEncoding, "the page's content coding is damaged"},
};

static_assert(std::size(kDescribed) == kFailureCount);

}  // namespace

std::string_view FailureName(Failure failure) {
  return kDescribed[static_cast<int>(failure)].name;
}

std::string_view FailureWords(Failure failure) {
  return kDescribed[static_cast<int>(failure)].words;
}

std::vector<std::string_view> FailureKinds() {
  std::vector<std::string_view> kinds;
  for (int i = 1; i < kFailureCount; ++i) {
    const auto failure = static_cast<Failure>(i);
    if (!IsLocal(failure) && failure != Failure::kStopped) {
      kinds.push_back(FailureName(failure));
    }
  }
  for (const Described& other : kOthers) kinds.push_back(other.name);
  return kinds;
}

std::optional<std::string_view> WordsOfKind(std::string_view kind) {
  for (const Described& described : kDescribed) {
    if (described.name == kind) return described.words;
  }
  for (const Described& described : kOthers) {
    if (described.name == kind) return described.words;
  }
  return std::nullopt;
}

}  // namespace gannet::jobs
