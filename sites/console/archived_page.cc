#include "sites/console/archived_page.h"

#include <algorithm>

#include "storage/archive/http_message.h"

namespace gannet::sites {
namespace {

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

size_t FindWithoutCase(std::string_view text, std::string_view lower,
                       size_t from) {
  const auto at = std::search(
      text.begin() + static_cast<ptrdiff_t>(std::min(from, text.size())),
      text.end(), lower.begin(), lower.end(),
      [](char a, char b) { return Lower(a) == b; });
  return at == text.end() ? std::string_view::npos
                          : static_cast<size_t>(at - text.begin());
}

// The seam for jobs/parse/content_decoder: once it is there, it decodes `body`
// here and `content_encoding` becomes empty.
void DecodeContent(ArchivedPage& page) {
  if (page.content_encoding == "identity") page.content_encoding.clear();
}

}  // namespace

storage::Position PositionOf(const proto::PageRecord& record) {
  return {storage::FileNumber{record.archive().file()},
          record.archive().offset(), record.archive().length()};
}

absl::StatusOr<ArchivedPage> ReadArchivedPage(storage::Archive& archive,
                                              const proto::PageRecord& record) {
  if (!record.has_archive()) {
    return absl::NotFoundError(
        "the page has no archived content: it was never fetched whole");
  }
  absl::StatusOr<storage::ArchivedRecord> read =
      archive.Read(PositionOf(record));
  if (!read.ok()) return read.status();
  const storage::HttpHead head = storage::SplitHttpResponse(read->block);
  ArchivedPage page;
  page.http_status = head.status;
  page.content_type = head.Get("Content-Type");
  page.content_encoding = head.Get("Content-Encoding");
  page.body = storage::HttpBody(read->block);
  DecodeContent(page);
  return page;
}

std::optional<std::string> TitleOf(const ArchivedPage& page) {
  if (!page.content_encoding.empty()) return std::nullopt;
  if (FindWithoutCase(page.content_type, "html", 0) == std::string_view::npos) {
    return std::nullopt;
  }
  // A title far down is none of the page's own (an <svg>'s, say).
  const std::string_view text = std::string_view(page.body).substr(0, 64 << 10);
  const size_t tag = FindWithoutCase(text, "<title", 0);
  if (tag == std::string_view::npos) return std::nullopt;
  const size_t begin = text.find('>', tag);
  const size_t end = FindWithoutCase(text, "</title", tag);
  if (begin == std::string_view::npos || end == std::string_view::npos ||
      end <= begin) {
    return std::nullopt;
  }
  std::string title;
  for (const char c : text.substr(begin + 1, end - begin - 1)) {
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!blank) {
      title += c;
    } else if (!title.empty() && title.back() != ' ') {
      title += ' ';
    }
  }
  if (title.ends_with(' ')) title.pop_back();
  return title;
}

}  // namespace gannet::sites
