// What parse wants to know of a response's header fields. One pass, views into
// the fields. Functions only; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace gannet::jobs {

struct ResponseFields {
  bool has_content_type = false;
  std::string media_type;        // "text/html": lower case, no parameters.
  std::string_view charset;      // As written; empty if none.
  std::string content_encoding;  // Several fields joined by commas.
  bool noindex = false;          // X-Robots-Tag.
  bool nofollow = false;
};

// `fields`: header lines as received, without the status line. `agent` is our
// name in "X-Robots-Tag: agent: nofollow"; a line without a name is for all.
// `out`'s memory is used again.
void ReadResponseFields(std::string_view fields, std::string_view agent,
                        ResponseFields& out);

// Whether a body without a Content-Type begins as HTML does (the MIME Sniffing
// standard, 7.1).
bool LooksLikeHtml(std::string_view body);

}  // namespace gannet::jobs
