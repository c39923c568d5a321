// Splits an archived HTTP response into its head and body (RFC 9112). As
// tolerant as browsers are, because it must read whatever the web sent.
// Thread-safe: no state.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gannet::storage {

// Views into the bytes that were given.
struct HttpHead {
  int status = 0;           // 0 if there was no status line.
  std::string_view fields;  // The header lines, without the status line.
  size_t body_offset = 0;   // All of the bytes if no empty line ends the head.

  // The first field of that name (case does not matter), trimmed; empty if
  // there is none.
  std::string_view Get(std::string_view name) const;
};

HttpHead SplitHttpResponse(std::string_view message);

// The head of an HTTP/2 message as libcurl writes it has HTTP/1.1's syntax but
// for the version in its first line ("HTTP/2 200", "GET / HTTP/2"), which tools
// that read archives take for damage. The same head with HTTP/1.1 there, as
// other crawlers write it (iipc/warc-specifications, issues 15 and 42: the
// truth is in WARC-Protocol). Nothing if it is not such a head.
std::optional<std::string> HeadOfHttp2AsHttp1(std::string_view head);

// Whether an answer of this status says where the page is instead, if it has a
// Location (RFC 9110, 15.4).
bool IsRedirect(int status);

// The body without its chunked coding. Nothing if `body` is not chunked from
// its first to its last byte: writers that store a decoded body often leave
// the Transfer-Encoding field in the head, so the field alone proves nothing.
std::optional<std::string> Dechunk(std::string_view body);

// The body of an archived response without the transfer coding: dechunked where
// that applies. (Content-Encoding is left alone.)
std::string HttpBody(std::string_view message);

// Compares as ASCII does in headers: case does not matter.
bool SameName(std::string_view a, std::string_view b);

std::string_view TrimBlanks(std::string_view text);

}  // namespace gannet::storage
