// LocalAdmin's verbs that tell how a site is doing.
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "sites/admin/local_admin.h"
#include "sites/admin/message_times.h"
#include "sites/admin/names.h"
#include "sites/admin/utf8.h"
#include "storage/crawl_db/score.h"

namespace gannet::sites {
namespace {

// Pages of the schedule that are looked at: some 100 ms.
constexpr size_t kMostLater = 20'000;
constexpr uint32_t kMostReports = 100'000;
// A sample costs as many neighbouring rows and look-ups: some 20 ms.
constexpr size_t kFrontierSample = 2'000;
constexpr uint32_t kDeepest = 12;

// Of a report that is not valid JSON, only the number is shown.
std::string ReportOf(uint64_t number, const std::string& text) {
  nlohmann::json report =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) report = nlohmann::json::object();
  if (!report.contains("round")) report["round"] = number;
  return report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

absl::Status LocalAdmin::GetStatus(const admin::GetStatusRequest&,
                                   admin::Status& reply) {
  const auto identity = db().records().identity();
  if (!identity.ok()) return identity.status();
  const auto next_due = db().frontier().NextDue();
  if (!next_due.ok()) return next_due.status();
  const auto blocked = db().blocks().Blocked();
  if (!blocked.ok()) return blocked.status();
  const storage::Totals totals = db().totals();
  const proto::RoundJournal journal = db().round().journal();

  reply.set_site(identity->name());
  reply.set_epoch(identity->epoch());
  reply.set_round(journal.number());
  reply.set_phase(PhaseName(journal.phase()));
  for (size_t i = 0; i < totals.pages_by_state.size(); ++i) {
    (*reply.mutable_pages())[StateName(static_cast<proto::PageState>(i))] =
        totals.pages_by_state[i];
  }
  reply.set_known(totals.KnownPages());
  reply.set_frontier(totals.frontier_pages);
  reply.set_scheduled(totals.scheduled_pages);
  reply.set_in_round(totals.round_pages);
  reply.set_finished(totals.finished_pages);
  reply.set_deferred(totals.deferred_urls);
  reply.set_dropped(totals.dropped_urls);
  for (const auto& [site, urls] : totals.outbox_urls) {
    (*reply.mutable_outbox())[std::to_string(static_cast<uint32_t>(site))] =
        urls;
  }
  if (next_due->has_value()) *reply.mutable_next_due() = ToMessage(**next_due);
  const storage::ArchiveSize size = store_.archive().MeasureSize();
  reply.mutable_archive()->set_files(size.files);
  reply.mutable_archive()->set_bytes(size.bytes);
  reply.set_blocked_domains(static_cast<int64_t>(blocked->size()));
  reply.set_scope(Utf8(db().scopes().scope()->Words()));
  std::error_code none;
  const auto space = std::filesystem::space(config()->site.data, none);
  if (!none) reply.set_free_bytes(space.available);
  if (rounds_ != nullptr) *reply.mutable_agent() = rounds_->Status();
  if (FederationControl* federation = federation_) federation->AddTo(reply);
  return absl::OkStatus();
}

// Once: again and again only for callers of the agent (admin_service.cc), which
// notices when they go away.
absl::Status LocalAdmin::WatchStatus(const admin::WatchStatusRequest&,
                                     const Sink<admin::Status>& sink) {
  admin::Status status;
  if (absl::Status s = GetStatus({}, status); !s.ok()) return s;
  (void)sink(status);
  return absl::OkStatus();
}

absl::Status LocalAdmin::GetLater(const admin::GetLaterRequest&,
                                  admin::Later& reply) {
  const auto later = db().frontier().CountLater(kMostLater);
  if (!later.ok()) return later.status();
  reply.set_retries(later->retries);
  if (later->next_retry.has_value()) {
    *reply.mutable_next_retry() = ToMessage(*later->next_retry);
  }
  reply.set_resting_hosts(later->resting_hosts);
  if (later->resting_hosts > 0) {
    *reply.mutable_next_rest_end() = ToMessage(*later->next_rest_end);
    *reply.mutable_last_rest_end() = ToMessage(*later->last_rest_end);
    reply.set_last_host(Utf8(HostOfKey(later->last_host.bytes)));
  }
  reply.set_is_counted(later->is_counted);
  return absl::OkStatus();
}

absl::Status LocalAdmin::ListRounds(const admin::ListRoundsRequest& request,
                                    admin::RoundReports& reply) {
  const uint64_t most =
      request.most() == 0 ? 10 : std::min(request.most(), kMostReports);
  const uint64_t last = db().round().journal().number();
  // The open round has no report: one more is looked at.
  for (uint64_t n = last > most ? last - most : 1; n <= last; ++n) {
    absl::StatusOr<std::string> text = db().round().Report(n);
    if (absl::IsNotFound(text.status())) continue;
    if (!text.ok()) return text.status();
    *reply.add_reports() = ReportOf(n, *text);
  }
  if (static_cast<uint64_t>(reply.reports_size()) > most) {
    reply.mutable_reports()->DeleteSubrange(
        0, reply.reports_size() - static_cast<int>(most));
  }
  return absl::OkStatus();
}

absl::Status LocalAdmin::GetFrontier(const admin::GetFrontierRequest&,
                                     admin::Frontier& reply) {
  auto sample = db().frontier().SampleFrontier(kFrontierSample);
  if (!sample.ok()) return sample.status();
  double depths[kDeepest + 1] = {};
  std::map<int64_t, double> scores;
  for (const storage::FrontierSample& page : *sample) {
    depths[std::min(page.depth, kDeepest)] += page.stands_for;
    // A bucket for each tenfold.
    int64_t from = 1;
    while (from <= static_cast<int64_t>(page.score) / 10) from *= 10;
    scores[page.score == 0 ? 0 : from] += page.stands_for;
  }
  reply.set_pages(db().totals().frontier_pages);
  reply.set_sampled(static_cast<int64_t>(sample->size()));
  for (uint32_t depth = 0; depth <= kDeepest; ++depth) {
    admin::Frontier::Bucket& bucket = *reply.add_by_depth();
    bucket.set_from(depth);
    bucket.set_pages(static_cast<int64_t>(depths[depth] + 0.5));
  }
  for (const auto& [from, pages] : scores) {
    admin::Frontier::Bucket& bucket = *reply.add_by_score();
    bucket.set_from(from);
    bucket.set_pages(static_cast<int64_t>(pages + 0.5));
  }
  return absl::OkStatus();
}

}  // namespace gannet::sites
