// ArchivedPage is a page as it was last fetched, out of the archive: what
// `gannet page` shows. Functions only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/crawl_db.pb.h"
#include "storage/archive/archive.h"

namespace gannet::sites {

struct ArchivedPage {
  int http_status = 0;
  std::string content_type;
  std::string content_encoding;  // Still on the body; empty: none.
  std::string body;              // Without chunked coding.
};

// kNotFound if it has no archived content, or the operator released the file.
absl::StatusOr<ArchivedPage> ReadArchivedPage(storage::Archive& archive,
                                              const proto::PageRecord& record);

storage::Position PositionOf(const proto::PageRecord& record);

// The text of an HTML page's <title>, blanks folded, entities as written;
// nothing if it has none or cannot be read.
std::optional<std::string> TitleOf(const ArchivedPage& page);

}  // namespace gannet::sites
