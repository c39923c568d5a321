// LocalAdmin's verbs about single pages.
#include <fmt/format.h>

#include "sites/admin/archived_page.h"
#include "sites/admin/local_admin.h"
#include "sites/admin/message_times.h"
#include "sites/admin/names.h"
#include "sites/admin/url_check.h"
#include "sites/admin/utf8.h"
#include "storage/crawl_db/score.h"

namespace gannet::sites {
namespace {

constexpr size_t kBodyPiece = 256 << 10;

// Is a page that is ready in the frontier, or in the open round's fetch list?
absl::StatusOr<bool> IsInOpenRound(storage::CrawlDb& db,
                                   const storage::PageKey& key) {
  // Nothing fits between this and the key: URLs have no such bytes.
  storage::PageKey before = key;
  --before.bytes.back();
  before.bytes.push_back('\xff');
  auto open = db.round().FetchList(before, 1);
  if (!open.ok()) return open.status();
  return !open->empty() && open->front() == key;
}

void DescribeRecord(const storage::Url& url, const proto::PageRecord& record,
                    admin::Page& page) {
  page.set_url(std::string(url.href()));
  page.set_state(StateName(record.state()));
  page.set_place(PlaceName(record.place()));
  page.set_score(static_cast<int64_t>(storage::Score(record)));
  page.set_cash(record.cash());
  page.set_history(record.history());
  page.set_depth(record.depth());
  page.set_redirects(record.redirects());
  if (record.found_ms() != 0) {
    *page.mutable_found() = TimestampOfMs(record.found_ms());
  }
  if (record.visited_ms() != 0) {
    *page.mutable_visited() = TimestampOfMs(record.visited_ms());
  }
  if (record.ready_ms() != 0) {
    *page.mutable_due() = TimestampOfMs(record.ready_ms());
  }
  page.set_http_status(record.http_status());
  page.set_retries(record.retries());
  page.set_etag(Utf8(record.etag()));
  page.set_last_modified(Utf8(record.last_modified()));
  page.set_digest(Utf8(record.payload_digest()));
  page.set_visits(record.change().visits());
  page.set_changes(record.change().changes());
  page.set_finished_reason(Utf8(record.finished_reason()));
  page.set_noindex(record.noindex());
}

void DescribeContent(storage::Archive& archive, const proto::PageRecord& record,
                     admin::Page& page) {
  admin::ArchivedContent& content = *page.mutable_archive();
  content.set_file(record.archive().file());
  content.set_offset(record.archive().offset());
  content.set_length(record.archive().length());
  absl::StatusOr<ArchivedPage> archived = ReadArchivedPage(archive, record);
  if (!archived.ok()) {
    content.set_problem(Utf8(std::string(archived.status().message())));
    return;
  }
  content.set_content_type(Utf8(archived->content_type));
  content.set_body_bytes(archived->body.size());
  ArchivedHtml reader;
  if (const auto html = reader.Html(*archived)) {
    if (auto title = reader.Title(*html)) page.set_title(Utf8(*title));
  }
  if (auto canonical = RecordedCanonical(archive, record)) {
    page.set_canonical(Utf8(*canonical));
  }
}

absl::StatusOr<proto::PageRecord> Find(storage::CrawlDb& db,
                                       const storage::Url& url) {
  absl::StatusOr<proto::PageRecord> record =
      db.records().GetPage(storage::PageKeyOf(url));
  if (!absl::IsNotFound(record.status())) return record;
  return absl::NotFoundError(
      fmt::format("{} is not known; 'gannet inject' adds it, 'gannet check "
                  "url' says whether it may be",
                  url.href()));
}

}  // namespace

absl::Status LocalAdmin::GetPage(const admin::GetPageRequest& request,
                                 admin::Page& reply) {
  absl::StatusOr<storage::Url> url = CanonicalUrl(*config(), request.url());
  if (!url.ok()) return url.status();
  absl::StatusOr<proto::PageRecord> record = Find(db(), *url);
  if (!record.ok()) return record.status();
  DescribeRecord(*url, *record, reply);
  if (record->place() == proto::READY) {
    const auto open = IsInOpenRound(db(), storage::PageKeyOf(*url));
    if (!open.ok()) return open.status();
    if (*open) reply.set_place("open round");
  }
  if (!record->has_archive()) return absl::OkStatus();
  DescribeContent(store_.archive(), *record, reply);
  if (!request.links()) return absl::OkStatus();
  const auto links = store_.archive().ReadOutlinks(PositionOf(*record));
  if (links.ok()) {  // Released, or none: `archive` says so.
    for (const std::string& link : *links) *reply.add_outlinks() = Utf8(link);
  }
  return absl::OkStatus();
}

absl::Status LocalAdmin::GetPageBody(const admin::GetPageRequest& request,
                                     const Sink<admin::PageBody>& sink) {
  absl::StatusOr<storage::Url> url = CanonicalUrl(*config(), request.url());
  if (!url.ok()) return url.status();
  absl::StatusOr<proto::PageRecord> record = Find(db(), *url);
  if (!record.ok()) return record.status();
  absl::StatusOr<ArchivedPage> page =
      ReadArchivedPage(store_.archive(), *record, kMostShownBytes);
  if (!page.ok()) return page.status();
  std::string_view rest = page->body;
  admin::PageBody piece;
  piece.set_content_encoding(Utf8(page->content_encoding));
  do {
    piece.set_bytes(std::string(rest.substr(0, kBodyPiece)));
    rest.remove_prefix(piece.bytes().size());
    if (!sink(piece)) break;
    piece.clear_content_encoding();
  } while (!rest.empty());
  return absl::OkStatus();
}

absl::Status LocalAdmin::CheckUrl(const admin::CheckUrlRequest& request,
                                  admin::UrlCheck& reply) {
  const absl::StatusOr<storage::Url> url =
      JudgeUrl(*config(), *db().scopes().scope(), request.url(), reply);
  if (!url.ok()) return url.status();
  const storage::PageKey key = storage::PageKeyOf(*url);
  reply.set_blocked(db().blocks().IsBlocked(key));
  if (reply.blocked()) {
    reply.set_allowed(false);
    reply.set_verdict("blocked_by_operator");
    reply.set_reason("'gannet block' forbids its domain");
  }
  const absl::StatusOr<proto::PageRecord> record = db().records().GetPage(key);
  if (!record.ok() && !absl::IsNotFound(record.status())) {
    return record.status();
  }
  reply.set_known(record.ok());
  if (record.ok()) reply.set_state(StateName(record->state()));
  return absl::OkStatus();
}

absl::Status LocalAdmin::Forget(const admin::ForgetRequest& request,
                                admin::Forgotten& reply) {
  absl::StatusOr<storage::Url> url = CanonicalUrl(*config(), request.url());
  if (!url.ok()) return url.status();
  absl::Status forgotten = db().records().Forget(storage::PageKeyOf(*url));
  if (absl::IsNotFound(forgotten)) {
    return absl::NotFoundError(fmt::format("{} is not known", url->href()));
  }
  if (!forgotten.ok()) return forgotten;
  reply.set_forgotten(std::string(url->href()));
  return absl::OkStatus();
}

}  // namespace gannet::sites
