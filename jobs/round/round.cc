#include "jobs/round/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "absl/time/clock.h"
#include "jobs/round/report.h"

namespace gannet::jobs {
namespace {

constexpr absl::Duration kLookForStop = absl::Milliseconds(100);
// What is due and cannot be taken must not make a busy loop.
constexpr absl::Duration kLeastWait = absl::Milliseconds(20);

std::string PhaseName(proto::RoundPhase phase) {
  switch (phase) {
    case proto::GENERATE:
      return "generate";
    case proto::FETCH:
      return "fetch";
    case proto::UPDATE:
      return "update";
    default:
      return "";
  }
}

}  // namespace

Rounds::Rounds(RoundSettings settings, storage::SiteStore* store)
    : settings_(std::move(settings)), store_(store), fetch_(settings_.fetch) {
  summary_.phase_seconds = {
      {"generate", 0}, {"fetch", 0}, {"update", 0}, {"exchange", 0}};
}

absl::StatusOr<bool> Rounds::RunOne(const std::atomic<bool>& stop) {
  storage::CrawlDb& db = store_->crawl_db();
  round_phase_seconds_.clear();
  was_resumed_ = db.journal().phase() != proto::NO_ROUND;
  if (!was_resumed_) {
    if (absl::Status status = CheckSpace(); !status.ok()) return status;
    absl::StatusOr<bool> has_work =
        HasWork(db, settings_.generate, absl::Now());
    if (!has_work.ok() || !*has_work) return has_work;
    if (absl::Status s = db.OpenRound(absl::Now()); !s.ok()) return s;
  }
  {
    storage::MutexLock lock(&mu_);
    round_started_ = absl::Now();
    deadline_ = round_started_ + settings_.time_limit;
  }
  const absl::Status status = Finish(stop);
  LeavePhase();
  if (!status.ok()) return status;
  return true;
}

// Each phase looks where the journal stands: what is done is not done again.
absl::Status Rounds::Finish(const std::atomic<bool>& stop) {
  storage::CrawlDb& db = store_->crawl_db();

  if (db.journal().phase() == proto::GENERATE) {
    Enter(proto::GENERATE);
    absl::StatusOr<int64_t> pages = Generate(db, settings_.generate);
    if (!pages.ok()) return pages.status();
    // Beyond this point the fetch list never grows.
    if (absl::Status s = db.SetPhase(proto::FETCH); !s.ok()) return s;
  }

  if (db.journal().phase() == proto::FETCH) {
    Enter(proto::FETCH);
    absl::Time deadline;
    {
      storage::MutexLock lock(&mu_);
      deadline = deadline_;
    }
    if (absl::Status s = fetch_.Run(*store_, deadline, stop); !s.ok()) return s;
    if (stop) {
      return absl::CancelledError(
          fmt::format("round {} stopped while fetching: nothing is lost, and "
                      "the next 'gannet round' goes on with it",
                      db.journal().number()));
    }
    // Beyond this point no page is completed, and no outlink added.
    if (absl::Status s = db.SetPhase(proto::UPDATE); !s.ok()) return s;
  }

  Enter(proto::UPDATE);
  if (absl::Status s =
          Update(db, settings_.update, absl::Now(), stop, update_view_);
      !s.ok()) {
    return s;
  }
  return WriteReport();
}

absl::Status Rounds::WriteReport() {
  LeavePhase();
  storage::CrawlDb& db = store_->crawl_db();
  const proto::RoundJournal journal = db.journal();
  const std::string report = RoundReport(journal, db.totals(), absl::Now(),
                                         round_phase_seconds_, was_resumed_);
  if (absl::Status s = db.CloseRound(report); !s.ok()) return s;

  const proto::RoundCounts& counts = journal.counts();
  ++summary_.rounds;
  summary_.counts.fetched += counts.fetched();
  summary_.counts.unchanged += counts.unchanged();
  summary_.counts.moved += counts.moved();
  summary_.counts.gone += counts.gone();
  summary_.counts.failed += counts.failed();
  summary_.counts.blocked += counts.blocked();
  summary_.counts.released += counts.released();
  summary_.bytes += counts.bytes();
  return absl::OkStatus();
}

absl::Status Rounds::RunMany(std::optional<int64_t> most, absl::Duration wait,
                             const std::atomic<bool>& stop) {
  const absl::Time started = absl::Now();
  absl::Status status;
  while (!most.has_value() || summary_.rounds < *most) {
    if (stop) {
      status = absl::CancelledError("stopped between rounds");
      break;
    }
    absl::StatusOr<bool> done = RunOne(stop);
    if (!done.ok()) {
      status = done.status();
      break;
    }
    if (*done) continue;
    // Nothing to do now; perhaps soon.
    absl::StatusOr<std::optional<absl::Time>> due =
        store_->crawl_db().NextDue();
    if (!due.ok()) {
      status = due.status();
      break;
    }
    if (!due->has_value() || **due > absl::Now() + wait) break;
    const absl::Time until = std::max(**due, absl::Now() + kLeastWait);
    {
      storage::MutexLock lock(&mu_);
      waiting_until_ = until;
    }
    while (!stop && absl::Now() < until) {
      absl::SleepFor(std::min(kLookForStop, until - absl::Now()));
    }
    storage::MutexLock lock(&mu_);
    waiting_until_ = absl::InfinitePast();
  }
  summary_.elapsed = absl::Now() - started;
  return status;
}

absl::Status Rounds::CheckSpace() const {
  if (settings_.min_free == 0) return absl::OkStatus();
  std::error_code error;
  const std::filesystem::space_info space =
      std::filesystem::space(settings_.data_folder, error);
  if (error || space.available >= settings_.min_free) return absl::OkStatus();
  return absl::ResourceExhaustedError(fmt::format(
      "only {} MiB are free on the disk of {}, and archive.min_free asks for "
      "{} MiB: no new round is begun. Make room ('gannet archive release' "
      "takes finished files away), or set archive.min_free lower",
      space.available >> 20, settings_.data_folder, settings_.min_free >> 20));
}

void Rounds::Enter(proto::RoundPhase phase) {
  LeavePhase();
  storage::MutexLock lock(&mu_);
  phase_ = phase;
  phase_started_ = absl::Now();
  const proto::RoundCounts counts = store_->crawl_db().journal().counts();
  planned_ = store_->crawl_db().totals().round_pages + counts.fetched() +
             counts.moved() + counts.gone() + counts.failed() +
             counts.blocked() + counts.released();
}

void Rounds::LeavePhase() {
  storage::MutexLock lock(&mu_);
  if (phase_ == proto::NO_ROUND) return;
  const double seconds = absl::ToDoubleSeconds(absl::Now() - phase_started_);
  round_phase_seconds_[PhaseName(phase_)] += seconds;
  summary_.phase_seconds[PhaseName(phase_)] += seconds;
  phase_ = proto::NO_ROUND;
}

ProgressView Rounds::view() const {
  const proto::RoundJournal journal = store_->crawl_db().journal();
  const FetchView fetch = fetch_.view();
  ProgressView view;
  view.round = journal.number();
  const proto::RoundCounts& counts = journal.counts();
  view.counts = {counts.fetched(), counts.unchanged(), counts.moved(),
                 counts.gone(),    counts.failed(),    counts.blocked(),
                 counts.released()};
  view.bytes = std::max(counts.bytes(), fetch.bytes);
  view.hosts_active = fetch.hosts_active;
  view.connections = fetch.connections;
  view.targets = update_view_.targets;
  view.settled = update_view_.settled;
  storage::MutexLock lock(&mu_);
  view.phase = phase_;
  view.phase_started = phase_started_;
  view.round_started = round_started_;
  view.deadline = deadline_;
  view.planned = planned_;
  view.waiting_until = waiting_until_;
  return view;
}

}  // namespace gannet::jobs
