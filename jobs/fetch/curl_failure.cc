#include "jobs/fetch/curl_failure.h"

#include <openssl/x509_vfy.h>

#include <cerrno>

namespace gannet::jobs {
namespace {

Failure OfCertificate(long verify_result) {
  switch (verify_result) {
    // libcurl checks the name itself, before it asks OpenSSL about the chain.
    case X509_V_OK:
    case X509_V_ERR_UNSPECIFIED:
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return Failure::kTlsWrongName;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return Failure::kTlsExpired;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return Failure::kTlsSelfSigned;
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_UNTRUSTED:
      return Failure::kTlsUnknownIssuer;
    default:
      return Failure::kTlsCertificate;
  }
}

// By OpenSSL's reasons (ssl/ssl_err.c), which libcurl passes on as text only.
Failure OfHandshake(std::string_view text) {
  const auto has = [text](std::string_view what) {
    return text.find(what) != text.npos;
  };
  if (has("wrong version number") || has("packet length too long") ||
      has("http request")) {
    return Failure::kTlsNotTls;
  }
  if (has("unsupported protocol") || has("protocol version") ||
      has("no protocols available") || has("dh key too small") ||
      has("unsafe legacy renegotiation") || has("legacy sigalg")) {
    return Failure::kTlsOldProtocol;
  }
  return Failure::kTlsHandshake;
}

Failure OfConnect(const CurlEnd& end) {
  switch (end.os_error) {
    case ECONNREFUSED:
      return Failure::kConnectRefused;
    case ETIMEDOUT:
      return Failure::kConnectTimeout;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EHOSTDOWN:
      return Failure::kUnreachable;
    case EADDRNOTAVAIL:
      // No port is left; or this machine has no address of that family, such as
      // IPv6, to connect from.
      return end.is_ipv6 ? Failure::kUnreachable : Failure::kNoSocket;
    // What this machine has run out of.
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case EAGAIN:
      return Failure::kNoSocket;
    default:
      return Failure::kConnect;
  }
}

// Failures that mean something else between us and a proxy: the host has said
// nothing.
bool IsOfTalk(CURLcode code) {
  switch (code) {
    case CURLE_GOT_NOTHING:
    case CURLE_OUT_OF_MEMORY:  // A line that is too long.
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_RECV_ERROR:  // Also: CONNECT was refused.
    case CURLE_SEND_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_WEIRD_SERVER_REPLY:
      return true;
    default:
      return false;
  }
}

}  // namespace

Failure FailureOf(const CurlEnd& end) {
  if (end.at_proxy && IsOfTalk(end.code)) return Failure::kConnect;
  switch (end.code) {
    case CURLE_OK:
      return Failure::kNone;
    case CURLE_COULDNT_RESOLVE_HOST:
      return Failure::kNameNotFound;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:  // SOCKS refuses.
      return Failure::kConnect;
    case CURLE_COULDNT_CONNECT:
      return OfConnect(end);
    case CURLE_OPERATION_TIMEDOUT:  // The kernel's; our own come before.
      return Failure::kConnectTimeout;
    case CURLE_INTERFACE_FAILED:  // bind() to fetch.source_address.
      return Failure::kNoSocket;
    case CURLE_OUT_OF_MEMORY:
      // So libcurl calls a header line of more than 100 KiB, too. It must not
      // be taken for a shortage of ours: those pages are asked for again and
      // again.
      return end.was_asked && !end.had_head ? Failure::kHeadersTooLarge
                                            : Failure::kInternal;
    case CURLE_PEER_FAILED_VERIFICATION:
      return OfCertificate(end.verify_result);
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_ISSUER_ERROR:
      return Failure::kTlsCertificate;
    case CURLE_SSL_CIPHER:
      return Failure::kTlsOldProtocol;
    case CURLE_SSL_CONNECT_ERROR:
      return OfHandshake(end.text);
    case CURLE_FILESIZE_EXCEEDED:
      return Failure::kTooLarge;
    case CURLE_PARTIAL_FILE:
      return Failure::kCutShort;
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2_STREAM:
    case CURLE_HTTP2:
      return end.was_in_handshake ? Failure::kTlsHandshake
             : end.had_answer     ? Failure::kCutShort
                                  : Failure::kReset;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:  // HTTP/0.9: not a word of HTTP.
    case CURLE_BAD_CONTENT_ENCODING:
      return Failure::kGarbage;
    default:
      return Failure::kInternal;
  }
}

}  // namespace gannet::jobs
