// Reads the head of an HTTP/1.x request from bytes that may be anything. Only
// what the fake web needs is kept; views point into the bytes given.
// Thread-safe (a pure function).
#pragma once

#include <cstddef>
#include <string_view>

namespace gannet::fake_web {

struct Request {
  std::string_view method;
  std::string_view target;  // Path and query, whatever form was sent.
  std::string_view host;    // Of the absolute form, else of the Host header.
  std::string_view if_none_match;
  std::string_view if_modified_since;
  bool accepts_gzip = false;
  bool keep_alive = true;
  bool tls = false;  // Set by the connection; the head does not say it.
};

enum class ParseResult { kNeedMore, kComplete, kBad, kTooLong };

// The longest head that is read; a request with a longer one is answered 431.
inline constexpr size_t kMostHeadBytes = 64 * 1024;

// On kComplete `*consumed` is the length of the head. A request with a body is
// complete too, but its keep_alive is false: the body is never read.
ParseResult ParseRequest(std::string_view bytes, Request* request,
                         size_t* consumed);

}  // namespace gannet::fake_web
