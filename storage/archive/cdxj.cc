#include "storage/archive/cdxj.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "storage/archive/archive_name.h"
#include "storage/archive/cdxj_sorter.h"
#include "storage/archive/http_message.h"
#include "storage/archive/warc_reader.h"

namespace gannet::storage {
namespace {

std::string Lowercase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return lower;
}

// "www.", "www2.", ...: mirrors of the same pages.
std::string_view WithoutWww(std::string_view host) {
  if (host.substr(0, 3) != "www") return host;
  const size_t end = host.find_first_not_of("0123456789", 3);
  const bool is_prefix = end != std::string_view::npos && host[end] == '.' &&
                         end + 1 < host.size();
  return is_prefix ? host.substr(end + 1) : host;
}

bool IsAddress(std::string_view host) {
  return !host.empty() &&
         (host[0] == '[' ||
          host.find_first_not_of("0123456789.") == std::string_view::npos);
}

void AppendReversed(std::string& key, std::string_view host) {
  while (!host.empty() && host.back() == '.') host.remove_suffix(1);
  if (IsAddress(host)) {
    key.append(host);
    return;
  }
  for (;;) {
    const size_t dot = host.rfind('.');
    if (dot == std::string_view::npos) break;
    key.append(host.substr(dot + 1)).append(",");
    host = host.substr(0, dot);
  }
  key.append(host);
}

void AppendSortedQuery(std::string& key, std::string_view query) {
  std::vector<std::string_view> arguments;
  for (;;) {
    const size_t ampersand = query.find('&');
    arguments.push_back(query.substr(0, ampersand));
    if (ampersand == std::string_view::npos) break;
    query.remove_prefix(ampersand + 1);
  }
  std::sort(arguments.begin(), arguments.end());
  char before = '?';
  for (const std::string_view argument : arguments) {
    key += before;
    key.append(argument);
    before = '&';
  }
}

// Tokens only (RFC 9110, 5.6.2): a hostile Content-Type must not break a line.
std::string MimeOf(std::string_view content_type) {
  const std::string mime =
      Lowercase(TrimBlanks(content_type.substr(0, content_type.find(';'))));
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyz0123456789!#$&^_.+-/";
  const bool good = !mime.empty() && mime.size() <= 127 &&
                    mime.find_first_not_of(kAllowed) == std::string::npos;
  return good ? mime : "unk";
}

void AppendJson(std::string& line, std::string_view safe_uri) {
  for (const char c : safe_uri) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
}

}  // namespace

std::string CdxjKey(std::string_view url) {
  const std::string lower = Lowercase(SafeUri(url));
  std::string_view rest = lower;
  const size_t scheme_end = rest.find("://");
  if (scheme_end == std::string_view::npos) return lower;
  const std::string_view scheme = rest.substr(0, scheme_end);
  rest.remove_prefix(scheme_end + 3);
  rest = rest.substr(0, rest.find('#'));

  const size_t authority_end = rest.find_first_of("/?\\");
  std::string_view host = rest.substr(0, authority_end);
  rest.remove_prefix(std::min(authority_end, rest.size()));
  // Without an "@", npos + 1 is 0, and nothing is dropped.
  host.remove_prefix(host.rfind('@') + 1);
  std::string_view port;
  const size_t colon = host.rfind(':');
  if (colon != std::string_view::npos &&
      host.find(']', colon) == std::string_view::npos) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  if ((scheme == "http" && port == "80") ||
      (scheme == "https" && port == "443")) {
    port = {};
  }

  std::string key;
  key.reserve(lower.size() + 2);
  AppendReversed(key, WithoutWww(host));
  if (!port.empty()) key.append(":").append(port);
  key += ')';
  const size_t question = rest.find('?');
  std::string_view path = rest.substr(0, question);
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  key.append(path.empty() ? "/" : path);
  if (question != std::string_view::npos && question + 1 < rest.size()) {
    AppendSortedQuery(key, rest.substr(question + 1));
  }
  return key;
}

std::optional<std::string> CdxjFront(RecordType type, std::string_view url,
                                     std::string_view warc_date,
                                     std::string_view payload_digest,
                                     std::string_view block_start) {
  if (type != RecordType::kResponse && type != RecordType::kRevisit) {
    return std::nullopt;
  }
  const HttpHead head =
      SplitHttpResponse(block_start.substr(0, kCdxjBlockBytes));
  std::string line = CdxjKey(url);
  line.append(" ").append(Timestamp14(warc_date)).append(" {\"url\": \"");
  AppendJson(line, SafeUri(url));
  line.append("\", \"mime\": \"");
  line.append(type == RecordType::kRevisit ? "warc/revisit"
                                           : MimeOf(head.Get("Content-Type")));
  line.append("\", \"status\": \"");
  line.append(head.status == 0 ? "-" : fmt::format_int(head.status).str());
  line.append("\", \"digest\": \"");
  if (payload_digest.empty()) payload_digest = "-";
  AppendJson(line, SafeUri(payload_digest));
  line.append("\", ");
  return line;
}

void FinishCdxjLine(std::string& front, uint64_t length, uint64_t offset,
                    std::string_view filename) {
  fmt::format_to(std::back_inserter(front),
                 R"("length": "{}", "offset": "{}", "filename": "{}"}})",
                 length, offset, filename);
}

absl::Status RebuildCdxj(const std::filesystem::path& warc,
                         const std::filesystem::path& cdxj, size_t memory,
                         uint64_t end_of_records) {
  auto source = FileSource(warc, end_of_records);
  if (!source.ok()) return source.status();
  WarcReader reader(*std::move(source));
  std::string filename = warc.filename().native();
  if (filename.ends_with(kOpenSuffix)) {
    filename.resize(filename.size() - kOpenSuffix.size());
  }
  CdxjSorter sorter(cdxj, memory);
  std::string block(kCdxjBlockBytes, '\0');
  for (;;) {
    auto more = reader.Next();
    if (!more.ok()) return more.status();
    if (!*more) break;
    const WarcHeader& header = reader.header();
    size_t size = 0;
    while (size < block.size()) {
      auto n = reader.ReadBlock(block.data() + size, block.size() - size);
      if (!n.ok()) return n.status();
      if (*n == 0) break;
      size += *n;
    }
    auto end = reader.Finish();
    if (!end.ok()) return end.status();
    auto line =
        CdxjFront(header.type, header.TargetUri(), header.Get("WARC-Date"),
                  header.Get("WARC-Payload-Digest"),
                  std::string_view(block).substr(0, size));
    if (!line.has_value()) continue;
    const uint64_t offset = reader.offset();
    FinishCdxjLine(*line, *end - offset, offset, filename);
    if (absl::Status added = sorter.Add(*std::move(line)); !added.ok()) {
      return added;
    }
  }
  return sorter.Write();
}

}  // namespace gannet::storage
