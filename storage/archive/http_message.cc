#include "storage/archive/http_message.h"

#include <charconv>

namespace gannet::storage {
namespace {

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

// Takes the next line off `rest`, without its LF or CRLF.
std::string_view TakeLine(std::string_view& rest) {
  const size_t lf = rest.find('\n');
  std::string_view line = rest.substr(0, lf);
  rest.remove_prefix(lf == std::string_view::npos ? rest.size() : lf + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// "HTTP/1.1 200 OK" -> 200.
int StatusOf(std::string_view line) {
  if (!SameName(line.substr(0, 5), "HTTP/")) return 0;
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return 0;
  const std::string_view digits = TrimBlanks(line.substr(space)).substr(0, 3);
  int status = 0;
  const char* const digits_end = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), digits_end, status);
  const bool all = digits.size() == 3 && end == digits_end;
  return error == std::errc() && all && status >= 100 ? status : 0;
}

}  // namespace

std::optional<std::string> HeadOfHttp2AsHttp1(std::string_view head) {
  constexpr std::string_view kHttp2 = "HTTP/2", kHttp1 = "HTTP/1.1";
  const std::string_view line = head.substr(0, head.find_first_of("\r\n"));
  size_t at = 0;
  if (!line.starts_with("HTTP/2 ") && line != kHttp2) {
    if (!line.ends_with(" HTTP/2")) return std::nullopt;
    at = line.size() - kHttp2.size();
  }
  std::string out(head);
  out.replace(at, kHttp2.size(), kHttp1);
  return out;
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 ||
         status == 308;
}

bool SameName(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (Lower(a[i]) != Lower(b[i])) return false;
  }
  return true;
}

std::string_view TrimBlanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  const size_t last = text.find_last_not_of(" \t\r\n");
  return text.substr(first, last - first + 1);
}

std::string_view HttpHead::Get(std::string_view name) const {
  std::string_view rest = fields;
  while (!rest.empty()) {
    const std::string_view line = TakeLine(rest);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    if (SameName(TrimBlanks(line.substr(0, colon)), name)) {
      return TrimBlanks(line.substr(colon + 1));
    }
  }
  return {};
}

HttpHead SplitHttpResponse(std::string_view message) {
  HttpHead head;
  std::string_view rest = message;
  head.status = StatusOf(TakeLine(rest));
  const char* const fields = rest.data();
  const char* fields_end = fields;
  while (!rest.empty()) {
    fields_end = rest.data();
    if (TakeLine(rest).empty()) break;
    fields_end = rest.data();
  }
  head.fields = {fields, static_cast<size_t>(fields_end - fields)};
  head.body_offset = message.size() - rest.size();
  return head;
}

std::optional<std::string> Dechunk(std::string_view body) {
  std::string decoded;
  for (;;) {
    if (body.empty()) return std::nullopt;
    std::string_view size_text = TakeLine(body);
    size_text = TrimBlanks(size_text.substr(0, size_text.find(';')));
    size_t size = 0;
    const char* const text_end = size_text.data() + size_text.size();
    const auto [end, error] =
        std::from_chars(size_text.data(), text_end, size, 16);
    if (error != std::errc() || end != text_end) return std::nullopt;
    if (size == 0) return decoded;  // What follows are trailer fields.
    if (size > body.size()) return std::nullopt;
    decoded.append(body.substr(0, size));
    body.remove_prefix(size);
    if (!TakeLine(body).empty()) return std::nullopt;
  }
}

std::string HttpBody(std::string_view message) {
  const HttpHead head = SplitHttpResponse(message);
  const std::string_view body = message.substr(head.body_offset);
  if (SameName(head.Get("Transfer-Encoding"), "chunked")) {
    if (auto decoded = Dechunk(body)) return *std::move(decoded);
  }
  return std::string(body);
}

}  // namespace gannet::storage
