// LocalAdmin's Export: walks that give lines. URLs have no control characters
// (the canonical form escapes them), so a line is a URL and a tab ends a field.
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/cleanup/cleanup.h"
#include "sites/admin/archived_page.h"
#include "sites/admin/local_admin.h"
#include "sites/admin/message_times.h"
#include "sites/admin/names.h"
#include "storage/archive/cdxj.h"

namespace gannet::sites {
namespace {

constexpr size_t kPiece = 64 << 10;
constexpr size_t kLongestPiece = 1 << 20;
constexpr int64_t kRowsBetweenLooks = 10'000;

// Gathers lines into pieces worth a message.
class Lines {
 public:
  explicit Lines(const Sink<admin::ExportedLines>& sink) : sink_(sink) {}

  // False: no more is wanted.
  bool Add(std::string_view line) {
    std::string& piece = *message_.mutable_lines();
    piece += line;
    piece += '\n';
    return piece.size() < kPiece || Flush();
  }
  // A line may be longer than a message can be.
  bool Flush() {
    const std::string all = std::move(*message_.mutable_lines());
    for (size_t at = 0; wanted_ && at < all.size(); at += kLongestPiece) {
      message_.set_lines(all.substr(at, kLongestPiece));
      wanted_ = sink_(message_);
    }
    message_.clear_lines();
    return wanted_;
  }
  // Asks now and then, while the walk finds no lines, whether the caller is
  // still there: a walk for a caller that has left should end.
  bool StillWanted() {
    if (++rows_ % kRowsBetweenLooks == 0 && wanted_) {
      wanted_ = sink_(admin::ExportedLines());
    }
    return wanted_;
  }

 private:
  const Sink<admin::ExportedLines>& sink_;
  admin::ExportedLines message_;
  bool wanted_ = true;
  int64_t rows_ = 0;
};

// Which pages are wanted.
struct Selection {
  std::optional<proto::PageState> state;
  std::string host;  // Canonical; empty: all.
  std::optional<absl::Time> since;
};

absl::StatusOr<Selection> SelectionOf(const admin::ExportRequest& request) {
  Selection selection;
  if (!request.state().empty()) {
    selection.state = StateOf(request.state());
    if (!selection.state.has_value()) {
      return absl::InvalidArgumentError(
          fmt::format("state: found '{}', allowed is new, fetched, moved, "
                      "gone, failed or blocked",
                      request.state()));
    }
  }
  if (!request.host().empty()) {
    absl::StatusOr<std::string> host = CanonicalHost(request.host());
    if (!host.ok()) return host.status();
    selection.host = *std::move(host);
  }
  if (request.has_since()) selection.since = FromMessage(request.since());
  return selection;
}

using VisitPage =
    std::function<bool(std::string_view page, const proto::PageRecord&)>;

// In key order, until `visit` says false. Memory does not grow with the site.
absl::Status ForEachPage(storage::CrawlDb& db, const Selection& selection,
                         Lines& lines, const VisitPage& visit) {
  const std::string prefix =
      selection.host.empty() ? "" : KeyOfHost(selection.host).bytes;
  return db.records().ScanPages(
      {prefix}, [&](std::string_view page, const proto::PageRecord& record) {
        if (!page.starts_with(prefix) || !lines.StillWanted()) return false;
        if (selection.state.has_value() && record.state() != *selection.state) {
          return true;
        }
        if (selection.since.has_value() &&
            record.visited_ms() < absl::ToUnixMillis(*selection.since)) {
          return true;
        }
        return visit(page, record);
      });
}

absl::Status Urls(storage::SiteStore& store, const Selection& selection,
                  Lines& lines) {
  return ForEachPage(store.crawl_db(), selection, lines,
                     [&](std::string_view page, const proto::PageRecord&) {
                       return lines.Add(UrlOfPage(page));
                     });
}

absl::Status Fetches(storage::SiteStore& store, const Selection& selection,
                     Lines& lines) {
  return ForEachPage(
      store.crawl_db(), selection, lines,
      [&](std::string_view page, const proto::PageRecord& record) {
        if (record.state() == proto::NEW) return true;
        return lines.Add(fmt::format(
            "{}\t{}\t{}\t{}\t{}\t{}\t{}", UrlOfPage(page),
            StateName(record.state()), record.http_status(),
            record.visited_ms() == 0 ? "" : Rfc3339(record.visited_ms()),
            record.payload_digest(),
            record.has_archive()
                ? fmt::format("{}:{}:{}", record.archive().file(),
                              record.archive().offset(),
                              record.archive().length())
                : "",
            record.noindex() ? "noindex" : ""));
      });
}

// A page whose outlinks are gone (released file, nothing archived) has none.
absl::Status Links(storage::SiteStore& store, const Selection& selection,
                   Lines& lines) {
  absl::Status problem;
  absl::Status walked = ForEachPage(
      store.crawl_db(), selection, lines,
      [&](std::string_view page, const proto::PageRecord& record) {
        if (!record.has_archive()) return true;
        auto links = store.archive().ReadOutlinks(PositionOf(record));
        if (absl::IsNotFound(links.status())) return true;
        if (!links.ok()) {
          problem = links.status();
          return false;
        }
        const std::string from = UrlOfPage(page);
        for (const std::string& to : *links) {
          if (!lines.Add(fmt::format("{}\t{}", from, to))) return false;
        }
        return true;
      });
  return walked.ok() ? problem : walked;
}

// A line a page: what would end it is escaped.
std::string OnOneLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '\n':
        line += "\\n";
        break;
      case '\r':
        line += "\\r";
        break;
      case '\t':
        line += "\\t";
        break;
      case '\\':
        line += "\\\\";
        break;
      default:
        line += c;
    }
  }
  return line;
}

// Pages that are not HTML, or whose content is gone, have no text.
absl::Status Text(storage::SiteStore& store, const Selection& selection,
                  bool json, Lines& lines) {
  absl::Status problem;
  ArchivedHtml reader;
  absl::Status walked = ForEachPage(
      store.crawl_db(), selection, lines,
      [&](std::string_view key, const proto::PageRecord& record) {
        auto page = ReadArchivedPage(store.archive(), record);
        if (absl::IsNotFound(page.status())) return true;
        if (!page.ok()) {
          problem = page.status();
          return false;
        }
        const auto html = reader.Html(*page);
        if (!html.has_value()) return true;
        const std::string text = reader.Text(*html);
        if (!json) {
          return lines.Add(
              fmt::format("{}\t{}", UrlOfPage(key), OnOneLine(text)));
        }
        const nlohmann::json object = {
            {"url", UrlOfPage(key)},
            {"title", reader.Title(*html).value_or("")},
            {"text", text}};
        return lines.Add(object.dump(-1, ' ', false,
                                     nlohmann::json::error_handler_t::replace));
      });
  return walked.ok() ? problem : walked;
}

// How much of the files being written is whole: as much as the crawl DB knows.
absl::StatusOr<storage::WholeBytes> WholeBytesOf(storage::CrawlDb& db) {
  auto state = db.records().archive_state();
  if (!state.ok()) return state.status();
  return [state = *std::move(state)](
             storage::FileNumber number) -> std::optional<uint64_t> {
    for (const auto& file : state.open()) {
      if (file.number() == static_cast<uint32_t>(number)) return file.length();
    }
    return std::nullopt;
  };
}

absl::Status Cdxj(storage::SiteStore& store, const Selection& selection,
                  Lines& lines) {
  if (selection.state.has_value()) {
    return absl::InvalidArgumentError(
        "--state does not go with cdxj: the index knows captures, not pages");
  }
  std::string prefix;
  if (!selection.host.empty()) {
    const std::string key =
        storage::CdxjKey(fmt::format("http://{}/", selection.host));
    prefix = key.substr(0, key.find(')') + 1);
  }
  const std::string since =
      selection.since.has_value()
          ? absl::FormatTime("%Y%m%d%H%M%S", *selection.since,
                             absl::UTCTimeZone())
          : "";
  absl::StatusOr<storage::WholeBytes> whole_bytes =
      WholeBytesOf(store.crawl_db());
  if (!whole_bytes.ok()) return whole_bytes.status();
  std::error_code error;
  std::string scratch =
      (std::filesystem::temp_directory_path(error) / "gannet-cdxj-XXXXXX")
          .string();
  if (error || mkdtemp(scratch.data()) == nullptr) {
    return absl::FailedPreconditionError(
        "cannot make the folder " + scratch +
        "; TMPDIR names the folder for temporary files");
  }
  absl::Cleanup remove = [&] {
    std::error_code ignored;
    std::filesystem::remove_all(scratch, ignored);
  };
  return store.archive().ForEachCdxjLine(
      scratch, *whole_bytes, [&](std::string_view line) {
        if (!lines.StillWanted()) return false;
        if (!line.starts_with(prefix)) return true;
        const size_t space = line.find(' ');
        if (!since.empty() && (space == std::string_view::npos ||
                               line.substr(space + 1, 14) < since)) {
          return true;
        }
        return lines.Add(line);
      });
}

}  // namespace

absl::Status LocalAdmin::Export(const admin::ExportRequest& request,
                                const Sink<admin::ExportedLines>& sink) {
  const absl::StatusOr<Selection> selection = SelectionOf(request);
  if (!selection.ok()) return selection.status();
  Lines lines(sink);
  absl::Status walked;
  if (request.kind() == "urls") {
    walked = Urls(store_, *selection, lines);
  } else if (request.kind() == "fetches") {
    walked = Fetches(store_, *selection, lines);
  } else if (request.kind() == "links") {
    walked = Links(store_, *selection, lines);
  } else if (request.kind() == "text") {
    walked = Text(store_, *selection, request.json(), lines);
  } else if (request.kind() == "cdxj") {
    walked = Cdxj(store_, *selection, lines);
  } else {
    return absl::InvalidArgumentError(fmt::format(
        "kind: found '{}', allowed is urls, fetches, links, text or cdxj",
        request.kind()));
  }
  lines.Flush();
  return walked;
}

}  // namespace gannet::sites
