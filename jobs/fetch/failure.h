// Failure says why there is no usable response. Two failures are told apart if
// an operator can react differently: the name, the connection, TLS, HTTP, the
// body, or this machine. One name each, for logs, metrics and reports, and one
// sentence for people. Plain data and functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gannet::jobs {

// Stored nowhere but by name.
enum class Failure : uint8_t {
  kNone,
  // The host's name.
  kNameNotFound,  // It does not exist, or has no address.
  kNameNoAnswer,  // No DNS server answered.
  // The connection.
  kAddressRefused,  // The address check forbids it.
  kConnectRefused,
  kConnectTimeout,
  kUnreachable,  // No route to the host.
  kConnect,      // Anything else.
  // TLS: the certificate,
  kTlsExpired,  // Or not valid yet.
  kTlsSelfSigned,
  kTlsUnknownIssuer,
  kTlsWrongName,
  kTlsCertificate,  // Anything else.
  // and the handshake.
  kTlsOldProtocol,
  kTlsNotTls,  // The server spoke, but not TLS.
  kTlsTimeout,
  kTlsHandshake,  // Anything else.
  // HTTP.
  kFirstByte,  // No answer in time.
  kHeadersTooLarge,
  kReset,
  kGarbage,  // Not HTTP.
  // The body.
  kTimeout,  // The whole took too long.
  kTooSlow,  // Below the minimum speed.
  kTooLarge,
  kCutShort,  // The connection ended before the body did.
  // This machine. Says nothing of the page, which is asked for another time.
  kMemory,    // Too many large answers at once.
  kNoSocket,  // No file handle or port is left.
  kStopped,   // By the operator, or the round's end.
  // libcurl does not take the request.
  kInternal,
};
inline constexpr int kFailureCount = static_cast<int>(Failure::kInternal) + 1;

// "name_not_found", "tls_expired", ...: fit for a metric's label.
std::string_view FailureName(Failure failure);
// "the certificate has expired", ...: for people.
std::string_view FailureWords(Failure failure);

// The other kinds of failed pages, whose response was whole.
namespace kind {
inline constexpr std::string_view kHttp3xx = "http_3xx";
inline constexpr std::string_view kHttp4xx = "http_4xx";
inline constexpr std::string_view kHttp5xx = "http_5xx";
inline constexpr std::string_view kHttpOther = "http_other";
inline constexpr std::string_view kRedirects = "redirects";
inline constexpr std::string_view kLocation = "location";
inline constexpr std::string_view kDecodedTooLarge = "decoded_too_large";
inline constexpr std::string_view kEncoding = "encoding";
}  // namespace kind

// All kinds that a page can fail with: names of failures that are not this
// machine's, and the others.
std::vector<std::string_view> FailureKinds();
// The words for people of a failure's name or of another kind; nullopt if it is
// neither.
std::optional<std::string_view> WordsOfKind(std::string_view kind);

// The server does not answer at all: a failure of the host, not of one page.
inline bool IsUnreachable(Failure failure) {
  return failure >= Failure::kNameNotFound && failure <= Failure::kFirstByte &&
         failure != Failure::kAddressRefused;
}
// The cause is on this machine, not at the server: the page is asked for again.
inline bool IsLocal(Failure failure) {
  return failure == Failure::kMemory || failure == Failure::kNoSocket;
}

}  // namespace gannet::jobs
