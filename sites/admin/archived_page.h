// ArchivedPage is a page as it was last fetched, out of the archive: what
// `gannet page` and `gannet export text` show.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "jobs/parse/charset.h"
#include "jobs/parse/html_gumbo.h"
#include "jobs/parse/html_scanner.h"
#include "jobs/parse/page_text.h"
#include "proto/crawl_db.pb.h"
#include "storage/archive/archive.h"

namespace gannet::sites {

struct ArchivedPage {
  int http_status = 0;
  std::string fields;            // The header lines.
  std::string content_type;      // As written.
  std::string content_encoding;  // Still on the body; empty: none.
  std::string body;              // Without chunked and content coding.
};

// Limits on a decoded body, against compression bombs: for a caller that reads
// it as a round does, and for a person who asked for just that page.
inline constexpr size_t kMostReadBytes = size_t{50} << 20;
inline constexpr size_t kMostShownBytes = size_t{256} << 20;

// kNotFound if it has no archived content, or the operator released the file.
absl::StatusOr<ArchivedPage> ReadArchivedPage(
    storage::Archive& archive, const proto::PageRecord& record,
    size_t most_bytes = kMostReadBytes);

// The page's rel=canonical as the round that archived it recorded it; nothing
// if there is none, or the file is gone.
std::optional<std::string> RecordedCanonical(storage::Archive& archive,
                                             const proto::PageRecord& record);

storage::Position PositionOf(const proto::PageRecord& record);

// Reads archived pages as a round reads fetched ones. Not thread-safe.
class ArchivedHtml {
 public:
  ArchivedHtml() : scanner_(""), gumbo_("") {}

  // The page in UTF-8, until the next call; nothing if it is not HTML, or its
  // content coding could not be undone.
  std::optional<std::string_view> Html(const ArchivedPage& page);
  // Of what Html() gave; nothing if it has none.
  std::optional<std::string> Title(std::string_view html);
  // The visible text; empty if the page exceeds the parser's bounds.
  std::string Text(std::string_view html);

 private:
  jobs::CharsetDecoder charsets_;
  jobs::HtmlScanner scanner_;
  jobs::HtmlGumbo gumbo_;
  jobs::HtmlFacts facts_;
  jobs::PageText text_;
};

}  // namespace gannet::sites
