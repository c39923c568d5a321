#include "jobs/fetch/page_worker.h"

#include <fmt/format.h>

#include <algorithm>

#include "jobs/fetch/back_off.h"
#include "storage/archive/digest.h"
#include "storage/archive/http_message.h"
#include "storage/archive/outlinks.h"

namespace gannet::jobs {
namespace {

// A hostile server's validator would come back with every visit.
constexpr size_t kMaxValidatorBytes = 256;

std::string Validator(std::string_view value) {
  return value.size() <= kMaxValidatorBytes ? std::string(value) : "";
}

// Of what the page links to.
uint32_t LinkDepth(const Answer& answer) { return answer.task.depth + 1; }

// What every visit writes into the page's record, whatever its outcome.
storage::Completion Visited(const Answer& answer) {
  storage::Completion completion;
  completion.page = answer.task.page;
  completion.bytes = answer.response.bytes;
  if (answer.task.earlier != nullptr) {
    completion.outcome = *answer.task.earlier;
  }
  completion.outcome.clear_finished_reason();
  completion.outcome.set_visited_ms(storage::ToMillis(answer.ended));
  completion.outcome.set_http_status(
      static_cast<uint32_t>(answer.response.status));
  completion.outcome.set_retries(0);
  return completion;
}

void LookAgain(absl::Time ended, absl::Duration interval,
               std::string_view finished, storage::Completion& completion) {
  if (interval == absl::InfiniteDuration()) {
    completion.outcome.set_finished_reason(std::string(finished));
  } else {
    completion.ready = ended + interval;
  }
}

}  // namespace

PageWorker::PageWorker(PageSettings settings, storage::SiteStore* store,
                       uint64_t seed)
    : settings_(std::move(settings)),
      store_(store),
      parser_(settings_.parse, settings_.canonicaliser, settings_.filter),
      random_(seed) {}

storage::Completion PageWorker::Blocked(const PageTask& task,
                                        std::string_view reason, absl::Time now,
                                        absl::Time until) {
  storage::Completion completion;
  completion.page = task.page;
  if (task.earlier != nullptr) completion.outcome = *task.earlier;
  completion.outcome.set_state(proto::BLOCKED);
  completion.outcome.set_finished_reason(std::string(reason));
  completion.outcome.set_visited_ms(storage::ToMillis(now));
  completion.outcome.set_http_status(0);
  completion.ready = until;
  return completion;
}

bool PageWorker::IsWanted(const storage::Url& url, const storage::Scope& scope,
                          uint32_t depth) const {
  return settings_.filter->Judge(url) == storage::UrlVerdict::kAllowed &&
         scope.Judge(url, depth) == storage::UrlVerdict::kAllowed;
}

absl::StatusOr<storage::Completion> PageWorker::Complete(Answer answer) {
  storage::Completion completion = Visited(answer);
  const proto::PageRecord* earlier = answer.task.earlier.get();
  const bool was_conditional =
      earlier != nullptr && earlier->has_archive() &&
      (!earlier->etag().empty() || !earlier->last_modified().empty());
  const Outcome outcome =
      OutcomeOf(answer.response, was_conditional, answer.ended);
  completion.outcome.set_state(outcome.state);
  absl::Status status;
  switch (outcome.state) {
    case proto::FETCHED:
      status = outcome.unchanged ? KeepUnchanged(answer, completion)
                                 : Read(answer, completion);
      break;
    case proto::MOVED:
      Follow(answer, outcome.location, completion);
      status = Archive(answer, completion, nullptr, {});
      break;
    case proto::GONE:
      completion.outcome.set_finished_reason(outcome.reason);
      status = Archive(answer, completion, nullptr, {});
      break;
    default:
      Fail(answer, outcome.kind, outcome.reason, outcome.try_again,
           outcome.retry_after.value_or(absl::ZeroDuration()), completion);
  }
  if (!status.ok()) return status;
  return completion;
}

void PageWorker::Fail(const Answer& answer, std::string_view kind,
                      std::string reason, bool try_again,
                      absl::Duration at_least,
                      storage::Completion& completion) {
  completion.failure_kind = kind;
  const uint32_t retries = answer.task.retries() + 1;
  proto::PageRecord& record = completion.outcome;
  record.set_state(proto::FAILED);
  record.set_retries(retries);
  record.set_finished_reason(std::move(reason));
  if (!try_again || retries > settings_.max_retries) return;
  const double random01 = std::uniform_real_distribution<>(0, 1)(random_);
  const absl::Duration wait = std::max(
      at_least, BackOff(static_cast<int>(retries), settings_.retry_delay,
                        settings_.max_retry_delay, random01));
  completion.ready = answer.ended + std::min(wait, settings_.max_retry_delay);
}

void PageWorker::Follow(const Answer& answer, const std::string& location,
                        storage::Completion& completion) {
  const uint32_t redirects = answer.task.redirects + 1;
  if (redirects > settings_.max_redirects) {
    Fail(answer, kind::kRedirects, "too many redirects in a row",
         /*try_again=*/false, {}, completion);
    return;
  }
  storage::Url target;
  const storage::UrlOutcome outcome =
      settings_.canonicaliser->Canonicalise(location, &answer.url, target);
  if (outcome != storage::UrlOutcome::kOk) {
    Fail(answer, kind::kLocation,
         fmt::format("moved to an invalid URL ({})",
                     storage::UrlOutcomeName(outcome)),
         /*try_again=*/false, {}, completion);
    return;
  }
  LookAgain(answer.ended, settings_.recrawl_interval, "moved", completion);
  if (target == answer.url || !IsWanted(target, *Scope(), answer.task.depth)) {
    return;  // No target: the root gets the cash.
  }
  completion.outlinks.push_back(storage::PageKeyOf(target));
  completion.outlink_redirects = redirects;
}

// 304: the page is as it was, and so are its links.
absl::Status PageWorker::KeepUnchanged(const Answer& answer,
                                       storage::Completion& completion) {
  const proto::PageRecord& earlier = *answer.task.earlier;
  const proto::ArchivePosition& at = earlier.archive();
  absl::StatusOr<std::vector<std::string>> urls =
      store_->archive().ReadOutlinks(
          {storage::FileNumber{at.file()}, at.offset(), at.length()});
  // A released file, or one that cannot be read, costs the links and no more:
  // the next change of the page brings them back.
  if (urls.ok()) {
    const std::shared_ptr<const storage::Scope> scope = Scope();
    storage::Url target;
    for (const std::string& url : *urls) {
      if (settings_.canonicaliser->Canonicalise(url, nullptr, target) ==
              storage::UrlOutcome::kOk &&
          !(target == answer.url) &&
          IsWanted(target, *scope, LinkDepth(answer))) {
        completion.outlinks.push_back(storage::PageKeyOf(target));
      }
    }
    std::sort(completion.outlinks.begin(), completion.outlinks.end());
    completion.outlinks.erase(
        std::unique(completion.outlinks.begin(), completion.outlinks.end()),
        completion.outlinks.end());
  }
  completion.unchanged = true;
  completion.keeps_history = true;
  completion.outcome.mutable_change()->set_visits(earlier.change().visits() +
                                                  1);
  LookAgain(answer.ended, settings_.recrawl_interval, "fetched", completion);
  return Archive(answer, completion, nullptr, earlier.payload_digest());
}

absl::Status PageWorker::Read(const Answer& answer,
                              storage::Completion& completion) {
  const Response& response = answer.response;
  const storage::HttpHead head = storage::SplitHttpResponse(response.head);
  const ParsedPage& page = parser_.Parse(answer.url, head.fields, response.body,
                                         *Scope(), LinkDepth(answer));
  if (page.kind == ParsedPage::Kind::kTooLarge) {
    Fail(answer, kind::kDecodedTooLarge, "too large when decoded",
         /*try_again=*/false, {}, completion);
    return absl::OkStatus();
  }
  if (page.kind == ParsedPage::Kind::kBadEncoding) {
    Fail(answer, kind::kEncoding, "damaged content coding", /*try_again=*/true,
         {}, completion);
    return absl::OkStatus();
  }
  completion.outlinks = page.outlinks;
  completion.keeps_history = true;
  LookAgain(answer.ended, settings_.recrawl_interval, "fetched", completion);

  proto::PageRecord& record = completion.outcome;
  record.set_noindex(page.noindex);
  record.set_etag(Validator(head.Get("ETag")));
  record.set_last_modified(Validator(head.Get("Last-Modified")));
  const std::string digest = storage::Sha1Digest(response.body);
  completion.unchanged =
      record.has_archive() && record.payload_digest() == digest;
  record.mutable_change()->set_visits(record.change().visits() + 1);
  // A page that came from another site gets its first record in this archive,
  // which does not mean that it has changed.
  if (record.payload_digest() != digest) {
    if (record.change().visits() > 1) {
      record.mutable_change()->set_changes(record.change().changes() + 1);
    }
    record.mutable_change()->set_last_change_ms(
        storage::ToMillis(response.started));
    record.set_payload_digest(digest);
  }
  if (page.kind == ParsedPage::Kind::kOther && !settings_.archive_other_types) {
    record.clear_archive();
    return absl::OkStatus();
  }
  return Archive(answer, completion, &page, digest);
}

void PageWorker::AppendField(std::string_view name, std::string_view value) {
  if (!value.empty()) metadata_ += fmt::format("{}: {}\r\n", name, value);
}

// The response, what was found in it, and the request, one behind the other.
absl::Status PageWorker::Archive(const Answer& answer,
                                 storage::Completion& completion,
                                 const ParsedPage* page,
                                 std::string_view digest) {
  const Response& response = answer.response;
  const std::string ip = response.address.ToString();
  // Only asked for over TLS (easy_handle.cc), so "h2" and never "h2c".
  constexpr std::string_view kHttp2 = "h2";
  const auto head = storage::HeadOfHttp2AsHttp1(response.head);
  const auto request_head = storage::HeadOfHttp2AsHttp1(response.request_head);
  storage::NewRecord records[3];
  size_t count = 1;
  storage::NewRecord& main = records[0];
  main.type = completion.unchanged ? storage::RecordType::kRevisit
                                   : storage::RecordType::kResponse;
  main.url = answer.url.href();
  main.date = response.started;
  main.ip = ip;
  main.head = head.has_value() ? *head : response.head;
  if (head.has_value()) main.protocol = kHttp2;
  main.payload_digest = digest;
  if (completion.unchanged) {
    main.revisit = storage::RevisitOf{
        response.status == 304
            ? storage::RevisitOf::Profile::kServerNotModified
            : storage::RevisitOf::Profile::kIdenticalPayloadDigest,
        main.url,
        absl::FromUnixMillis(completion.outcome.change().last_change_ms())};
  } else {
    main.payload = response.body;
  }

  // Directly behind the response: recrawl looks for it there.
  if (page != nullptr && !completion.unchanged &&
      page->kind == ParsedPage::Kind::kHtml) {
    metadata_.clear();
    AppendField("title", page->title);
    AppendField("canonical", page->canonical);
    AppendField("charset", page->charset);
    for (const std::string& url : page->outlink_urls) {
      storage::AppendOutlink(metadata_, url);
    }
    storage::NewRecord& metadata = records[count++];
    metadata.type = storage::RecordType::kMetadata;
    metadata.url = main.url;
    metadata.date = main.date;
    metadata.head = metadata_;
    metadata.concurrent_to = 0;
  }

  storage::NewRecord& request = records[count++];
  request.type = storage::RecordType::kRequest;
  request.url = main.url;
  request.date = main.date;
  request.ip = ip;
  request.head =
      request_head.has_value() ? *request_head : response.request_head;
  request.protocol = main.protocol;
  request.concurrent_to = 0;

  absl::StatusOr<std::vector<storage::Position>> positions =
      store_->archive().Append(absl::MakeSpan(records, count));
  if (!positions.ok()) return positions.status();
  if (completion.outcome.state() == proto::FETCHED && !completion.unchanged) {
    proto::ArchivePosition* at = completion.outcome.mutable_archive();
    at->set_file(static_cast<uint32_t>(positions->front().file));
    at->set_offset(positions->front().offset);
    at->set_length(positions->front().length);
  }
  return absl::OkStatus();
}

}  // namespace gannet::jobs
