#include "tests/fake_web/http_request.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace gannet::fake_web {
namespace {

absl::string_view Absl(std::string_view s) { return {s.data(), s.size()}; }

bool EqualsNoCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && absl::EqualsIgnoreCase(Absl(a), Absl(b));
}

std::string_view Trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) {
    s.remove_prefix(1);
  }
  while (!s.empty() &&
         (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) {
    s.remove_suffix(1);
  }
  return s;
}

// Whether gzip is listed as a coding, and not with q=0.
bool AcceptsGzip(std::string_view value) {
  while (!value.empty()) {
    const size_t comma = value.find(',');
    const std::string_view item = value.substr(0, comma);
    value = comma == value.npos ? std::string_view() : value.substr(comma + 1);
    const size_t semicolon = item.find(';');
    if (!EqualsNoCase(Trim(item.substr(0, semicolon)), "gzip")) continue;
    if (semicolon == item.npos) return true;
    const std::string_view weight = Trim(item.substr(semicolon + 1));
    return !(weight == "q=0" || weight == "q=0.0" || weight == "q=0.00" ||
             weight == "q=0.000");
  }
  return false;
}

bool ParseRequestLine(std::string_view line, Request* request, bool* http10) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == line.npos || first == 0 || last == first) return false;
  request->method = line.substr(0, first);
  for (const char c : request->method) {
    if (!absl::ascii_isalpha(static_cast<unsigned char>(c))) return false;
  }
  const std::string_view version = Trim(line.substr(last + 1));
  *http10 = version == "HTTP/1.0";
  if (!*http10 && version != "HTTP/1.1") return false;
  request->target = line.substr(first + 1, last - first - 1);
  for (const char c : request->target) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) return false;
  }
  if (absl::StartsWithIgnoreCase(Absl(request->target), "http://")) {
    request->host = request->target.substr(7);
    const size_t path = request->host.find_first_of("/?");
    request->target =
        path == request->host.npos ? "/" : request->host.substr(path);
    request->host = request->host.substr(0, path);
  }
  return !request->target.empty() &&
         (request->target[0] == '/' || request->target == "*");
}

}  // namespace

ParseResult ParseRequest(std::string_view bytes, Request* request,
                         size_t* consumed) {
  *request = Request();
  size_t begin = 0;
  // RFC 9112, 2.2: empty lines before a request are skipped.
  while (bytes.substr(begin, 2) == "\r\n") begin += 2;
  const size_t end = bytes.find("\r\n\r\n", begin);
  if (end == bytes.npos) {
    if (bytes.size() - begin > kMostHeadBytes) return ParseResult::kTooLong;
    // It does not begin with a method, so there is no need to wait for more.
    if (bytes.size() > begin &&
        !absl::ascii_isalpha(static_cast<unsigned char>(bytes[begin])) &&
        bytes[begin] != '\r') {
      return ParseResult::kBad;
    }
    return ParseResult::kNeedMore;
  }
  if (end - begin > kMostHeadBytes) return ParseResult::kTooLong;
  *consumed = end + 4;
  std::string_view head = bytes.substr(begin, end - begin);
  const size_t line_end = head.find("\r\n");
  bool http10 = false;
  if (!ParseRequestLine(head.substr(0, line_end), request, &http10)) {
    return ParseResult::kBad;
  }
  request->keep_alive = !http10;
  head = line_end == head.npos ? std::string_view() : head.substr(line_end + 2);
  while (!head.empty()) {
    const size_t next = head.find("\r\n");
    const std::string_view line = head.substr(0, next);
    head = next == head.npos ? std::string_view() : head.substr(next + 2);
    const size_t colon = line.find(':');
    if (colon == line.npos || colon == 0) return ParseResult::kBad;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = Trim(line.substr(colon + 1));
    if (EqualsNoCase(name, "host")) {
      // RFC 9112, 3.2.2: the absolute form wins.
      if (request->host.empty()) request->host = value;
    } else if (EqualsNoCase(name, "connection")) {
      if (EqualsNoCase(value, "close")) request->keep_alive = false;
      if (EqualsNoCase(value, "keep-alive")) request->keep_alive = true;
    } else if (EqualsNoCase(name, "accept-encoding")) {
      request->accepts_gzip = AcceptsGzip(value);
    } else if (EqualsNoCase(name, "if-none-match")) {
      request->if_none_match = value;
    } else if (EqualsNoCase(name, "if-modified-since")) {
      request->if_modified_since = value;
    } else if (EqualsNoCase(name, "transfer-encoding") ||
               (EqualsNoCase(name, "content-length") && value != "0")) {
      request->keep_alive = false;
    }
  }
  return ParseResult::kComplete;
}

}  // namespace gannet::fake_web
