// What a libcurl transfer ended with, in our words: libcurl has one code for
// many failures of TLS and connections, so its other signs are read too. A
// function; thread-safe.
#pragma once

#include <curl/curl.h>

#include <string_view>

#include "jobs/fetch/failure.h"

namespace gannet::jobs {

struct CurlEnd {
  CURLcode code = CURLE_OK;
  long os_error = 0;       // CURLINFO_OS_ERRNO: of connect().
  long verify_result = 0;  // CURLINFO_SSL_VERIFYRESULT: X509_V_ERR_...
  std::string_view text;   // The error buffer; OpenSSL's reason is in it.
  bool is_ipv6 = false;
  // The proxy was not connected yet, or had not connected us to the host.
  bool at_proxy = false;
  bool was_in_handshake = false;  // TCP was connected, TLS was not.
  bool was_asked = false;         // Connected, the host had the request.
  bool had_answer = false;        // A part of it was there.
  bool had_head = false;          // All of it.
};

Failure FailureOf(const CurlEnd& end);

}  // namespace gannet::jobs
