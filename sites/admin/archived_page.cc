#include "sites/admin/archived_page.h"

#include "jobs/parse/content_decoder.h"
#include "jobs/parse/response_fields.h"
#include "storage/archive/http_message.h"

namespace gannet::sites {
namespace {

void DecodeContent(ArchivedPage& page, size_t most_bytes) {
  jobs::ContentDecoder decoder(most_bytes);
  std::string_view decoded;
  if (decoder.Decode(page.content_encoding, page.body, decoded) !=
      jobs::DecodeOutcome::kOk) {
    return;
  }
  if (decoded.data() != page.body.data()) page.body = std::string(decoded);
  page.content_encoding.clear();
}

}  // namespace

storage::Position PositionOf(const proto::PageRecord& record) {
  return {storage::FileNumber{record.archive().file()},
          record.archive().offset(), record.archive().length()};
}

// The metadata record stands behind the response (jobs/fetch/page_worker.cc).
std::optional<std::string> RecordedCanonical(storage::Archive& archive,
                                             const proto::PageRecord& record) {
  if (!record.has_archive()) return std::nullopt;
  const absl::StatusOr<std::string> block =
      archive.ReadMetadata(PositionOf(record));
  if (!block.ok()) return std::nullopt;
  for (std::string_view rest = *block; !rest.empty();) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos ||
        !storage::SameName(line.substr(0, colon), "canonical")) {
      continue;
    }
    const std::string_view url = storage::TrimBlanks(line.substr(colon + 1));
    if (!url.empty()) return std::string(url);
  }
  return std::nullopt;
}

absl::StatusOr<ArchivedPage> ReadArchivedPage(storage::Archive& archive,
                                              const proto::PageRecord& record,
                                              size_t most_bytes) {
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
  page.fields = head.fields;
  page.content_type = head.Get("Content-Type");
  jobs::ResponseFields fields;
  jobs::ReadResponseFields(head.fields, "", fields);
  page.content_encoding = fields.content_encoding;
  page.body = storage::HttpBody(read->block);
  DecodeContent(page, most_bytes);
  return page;
}

std::optional<std::string_view> ArchivedHtml::Html(const ArchivedPage& page) {
  if (!page.content_encoding.empty()) return std::nullopt;
  jobs::ResponseFields fields;
  jobs::ReadResponseFields(page.fields, "", fields);
  const bool is_html = fields.has_content_type
                           ? fields.media_type == "text/html" ||
                                 fields.media_type == "application/xhtml+xml"
                           : jobs::LooksLikeHtml(page.body);
  if (!is_html) return std::nullopt;
  return charsets_.Decode(page.body, fields.charset).text;
}

std::optional<std::string> ArchivedHtml::Title(std::string_view html) {
  if (!scanner_.Read(html, facts_) && !gumbo_.Read(html, facts_)) {
    scanner_.ReadAnyway(html, facts_);
  }
  if (!facts_.has_title) return std::nullopt;
  return facts_.title;
}

std::string ArchivedHtml::Text(std::string_view html) {
  std::string text;
  text_.Append(html, text);
  return text;
}

}  // namespace gannet::sites
