// The HTML standard, 13.2.3.2, "prescan a byte stream to determine its
// encoding".
#include <algorithm>
#include <cstring>
#include <string_view>

#include "jobs/parse/charset.h"
#include "jobs/parse/html_facts.h"
#include "jobs/parse/html_tag.h"
#include "storage/archive/http_message.h"

namespace gannet::jobs {
namespace {

constexpr size_t kPrescanBytes = 1024;

// "algorithm for extracting a character encoding from a meta element".
std::string_view CharsetInContent(std::string_view content) {
  constexpr std::string_view kName = "charset";
  for (size_t at = 0; at + kName.size() <= content.size(); ++at) {
    if (!storage::SameName(content.substr(at, kName.size()), kName)) continue;
    size_t next = at + kName.size();
    while (next < content.size() && IsHtmlBlank(content[next])) ++next;
    if (next == content.size() || content[next] != '=') continue;
    ++next;
    while (next < content.size() && IsHtmlBlank(content[next])) ++next;
    if (next == content.size()) return {};
    const char quote = content[next];
    if (quote == '"' || quote == '\'') {
      const size_t close = content.find(quote, next + 1);
      if (close == content.npos) return {};
      return content.substr(next + 1, close - next - 1);
    }
    size_t end = next;
    while (end < content.size() && !IsHtmlBlank(content[end]) &&
           content[end] != ';') {
      ++end;
    }
    return content.substr(next, end - next);
  }
  return {};
}

// A page that can be read byte by byte cannot be UTF-16, even if it says so.
std::string_view AsRead(std::string_view label) {
  const std::string_view name = EncodingOfLabel(label);
  return name.substr(0, 6) == "utf-16" ? std::string_view("utf-8") : name;
}

std::string_view EncodingOfMeta(const char*& at, const char* end) {
  std::string_view charset, content;
  bool seen_charset = false, seen_content = false, seen_pragma = false;
  bool pragma = false;
  const TagEnd tag_end = ReadAttributes(
      at, end,
      [&](PackedName packed, std::string_view name, std::string_view value) {
        if (packed == Pack("charset") && !seen_charset) {
          seen_charset = true;
          charset = value;
        } else if (packed == Pack("content") && !seen_content) {
          seen_content = true;
          content = value;
        } else if (packed == kLongName && !seen_pragma &&
                   storage::SameName(name, "http-equiv")) {
          seen_pragma = true;
          pragma = storage::SameName(value, "content-type");
        }
      });
  if (tag_end == TagEnd::kEndOfFile) return {};
  if (seen_charset) return AsRead(charset);
  return pragma ? AsRead(CharsetInContent(content)) : std::string_view();
}

std::string_view EncodingOfXml(std::string_view bytes) {
  if (bytes.substr(0, 5) != "<?xml") return {};
  const std::string_view head = bytes.substr(0, bytes.find('>'));
  const size_t at = head.find("encoding");
  if (at == head.npos) return {};
  const size_t open = head.find_first_of("\"'", at);
  if (open == head.npos) return {};
  const size_t close = head.find(head[open], open + 1);
  if (close == head.npos) return {};
  return AsRead(head.substr(open + 1, close - open - 1));
}

}  // namespace

std::string_view PrescanEncoding(std::string_view bytes) {
  bytes = bytes.substr(0, kPrescanBytes);
  if (const std::string_view by_xml = EncodingOfXml(bytes); !by_xml.empty()) {
    return by_xml;
  }
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at < end) {
    at = std::find(at, end, '<');
    if (end - at < 2) return {};
    ++at;
    if (end - at >= 3 && memcmp(at, "!--", 3) == 0) {
      // The dashes of "<!-->" may be those of its end.
      const std::string_view rest(at + 1, static_cast<size_t>(end - at - 1));
      const size_t close = rest.find("-->");
      if (close == rest.npos) return {};
      at = rest.data() + close + 3;
    } else if (*at == '!' || *at == '?' ||
               (*at == '/' && end - at > 1 && !IsTagLetter(at[1]))) {
      at = std::find(at, end, '>');
    } else if (*at == '/' || IsTagLetter(*at)) {
      const bool is_start = *at != '/';
      if (!is_start) ++at;
      if (at == end) return {};
      const PackedName name = ReadTagName(at, end);
      if (is_start && name == Pack("meta")) {
        const std::string_view found = EncodingOfMeta(at, end);
        if (!found.empty()) return found;
      } else {
        ReadAttributes(at, end,
                       [](PackedName, std::string_view, std::string_view) {});
      }
    }
  }
  return {};
}

}  // namespace gannet::jobs
