#include "sites/agent/site_rounds.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "sites/agent/round_messages.h"

namespace gannet::sites {

SiteRounds::SiteRounds(PreparedRounds settings, storage::SiteStore& store,
                       jobs::FederationPart* federation, storage::Clock& clock)
    : store_(store),
      federation_(federation),
      clock_(clock),
      running_(std::make_shared<Running>(std::move(settings), store, federation,
                                         clock)) {}

void SiteRounds::SetSettings(PreparedRounds settings) {
  storage::MutexLock lock(&mu_);
  next_ = std::move(settings);
}

std::shared_ptr<SiteRounds::Running> SiteRounds::current() {
  storage::MutexLock lock(&mu_);
  return running_;
}

absl::StatusOr<bool> SiteRounds::RunOne(const std::atomic<bool>& stop) {
  // No page is fetched that could not be stored.
  if (absl::Status broken = store_.Broken(); !broken.ok()) return broken;
  {
    storage::MutexLock lock(&mu_);
    if (next_.has_value()) {
      before_ = Sum(before_, running_->rounds.summary());
      running_ = std::make_shared<Running>(*std::move(next_), store_,
                                           federation_, clock_);
      next_.reset();
    }
  }
  return current()->rounds.RunOne(stop);
}

absl::StatusOr<std::optional<absl::Time>> SiteRounds::NextDue() {
  return store_.crawl_db().frontier().NextDue();
}

absl::Status SiteRounds::MayBegin() { return current()->rounds.may_begin(); }

absl::Status SiteRounds::CheckProgress() {
  return current()->rounds.CheckProgress();
}

// The next page may be a long time away, so the file is finished and can be
// released.
absl::Status SiteRounds::NothingIsLeft() { return store_.FinishArchiveFile(); }

bool SiteRounds::HasOpenRound() {
  return store_.crawl_db().round().journal().phase() != proto::NO_ROUND;
}

bool SiteRounds::HasRoom() { return current()->rounds.HasRoom(); }

EndedRound SiteRounds::LastEnded() {
  EndedRound last;
  const proto::RoundJournal journal = store_.crawl_db().round().journal();
  const bool is_open = journal.phase() != proto::NO_ROUND;
  if (journal.number() == 0 || (is_open && journal.number() == 1)) return last;
  const absl::StatusOr<std::string> text =
      store_.crawl_db().round().Report(journal.number() - (is_open ? 1 : 0));
  if (!text.ok()) return last;
  const auto report =
      nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("started") ||
      !report["started"].is_string() || !report.contains("seconds") ||
      !report["seconds"].is_number() ||
      !absl::ParseTime(absl::RFC3339_full, report["started"].get<std::string>(),
                       &last.started, nullptr)) {
    return EndedRound();
  }
  last.ended = last.started + absl::Seconds(report["seconds"].get<double>());
  if (report.contains("phase_seconds") && report["phase_seconds"].is_object()) {
    for (const auto& [phase, seconds] : report["phase_seconds"].items()) {
      if (seconds.is_number()) last.phase_seconds[phase] = seconds;
    }
  }
  return last;
}

jobs::ProgressView SiteRounds::view() { return current()->rounds.view(); }

jobs::RunSummary SiteRounds::lifetime() {
  storage::MutexLock lock(&mu_);
  return Sum(before_, running_->rounds.lifetime());
}

}  // namespace gannet::sites
