#include "jobs/fetch/easy_handle.h"

#include <fmt/format.h>

namespace gannet::jobs {
namespace {

// libcurl takes 0 for its default of five minutes.
constexpr long kNever = 24 * 3600 * 1000L;

}  // namespace

EasyHandle::EasyHandle(const DownloadSettings& settings)
    : settings_(settings), handle_(curl_easy_init()) {
  const auto set = [this](CURLoption option, auto value) {
    curl_easy_setopt(handle_, option, value);
  };
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_HTTP_VERSION,
      static_cast<long>(settings_.http2 ? CURL_HTTP_VERSION_2TLS
                                        : CURL_HTTP_VERSION_1_1));
  // Bodies are archived as they came; who reads them decodes.
  set(CURLOPT_HTTP_CONTENT_DECODING, 0L);
  set(CURLOPT_PROXY, settings_.proxy.c_str());
  // A proxy's headers are no part of the host's answer.
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (!settings_.source_address.empty()) {
    set(CURLOPT_INTERFACE, ("host!" + settings_.source_address).c_str());
  }
  // TlsTrust has the certificates and the sessions, also for a proxy that
  // speaks TLS: libcurl would add its certificates for proxies to the store
  // that all share.
  for (const CURLoption option : {CURLOPT_CAINFO, CURLOPT_CAPATH,
                                  CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH}) {
    set(option, static_cast<const char*>(nullptr));
  }
  // Otherwise libcurl would cache the store of the first connection and use it
  // for 24 hours instead of the current one. Nothing is parsed, so the cache
  // saves nothing.
  set(CURLOPT_CA_CACHE_TIMEOUT, 0L);
  set(CURLOPT_SSL_SESSIONID_CACHE, 0L);
  set(CURLOPT_USERAGENT, settings_.user_agent.c_str());
  set(CURLOPT_CONNECTTIMEOUT_MS, kNever);  // The Downloader sees to it.
  if (settings_.bandwidth > 0) {
    set(CURLOPT_MAX_RECV_SPEED_LARGE,
        static_cast<curl_off_t>(settings_.bandwidth));
  }
  // Names are resolved before they come here; otherwise each request would
  // prune the whole cache.
  set(CURLOPT_DNS_CACHE_TIMEOUT, -1L);
  set(CURLOPT_TCP_NODELAY, 1L);
}

void EasyHandle::Append(List& list, const std::string& line) {
  list.reset(curl_slist_append(list.release(), line.c_str()));
}

void EasyHandle::SetHeaders(const Request& request) {
  // A handle asks for page after page with the same fields.
  const bool is_plain =
      request.if_none_match.empty() && request.if_modified_since.empty();
  if (is_plain && headers_are_plain_ &&
      headers_compressed_ == request.compressed) {
    return;
  }
  headers_are_plain_ = is_plain;
  headers_compressed_ = request.compressed;
  headers_.reset();
  Append(headers_, "Accept: " + settings_.accept);
  if (!settings_.accept_language.empty()) {
    Append(headers_, "Accept-Language: " + settings_.accept_language);
  }
  Append(headers_, request.compressed
                       ? "Accept-Encoding: gzip, deflate, br, zstd"
                       : "Accept-Encoding: identity");
  if (!request.if_none_match.empty()) {
    Append(headers_, "If-None-Match: " + request.if_none_match);
  }
  if (!request.if_modified_since.empty()) {
    Append(headers_, "If-Modified-Since: " + request.if_modified_since);
  }
  curl_easy_setopt(handle_, CURLOPT_HTTPHEADER, headers_.get());
}

void EasyHandle::SetAddress(const Request& request) {
  if (connect_to_ != nullptr && port_ == request.port &&
      address_ == request.address) {
    return;
  }
  address_ = request.address;
  port_ = request.port;
  connect_to_.reset();
  const std::string address = request.address.ToString();
  Append(connect_to_, request.address.is_ipv4()
                          ? fmt::format("::{}:{}", address, request.port)
                          : fmt::format("::[{}]:{}", address, request.port));
  curl_easy_setopt(handle_, CURLOPT_CONNECT_TO, connect_to_.get());
}

void EasyHandle::SetRequest(const Request& request) {
  SetHeaders(request);
  if (settings_.proxy.empty()) SetAddress(request);
  curl_easy_setopt(handle_, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle_, CURLOPT_REQUEST_TARGET,
                   settings_.proxy.empty() ? request.target.c_str() : nullptr);
}

}  // namespace gannet::jobs
