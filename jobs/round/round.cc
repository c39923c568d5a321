#include "jobs/round/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "jobs/fetch/tls_trust.h"
#include "jobs/round/report.h"
#include "storage/url/surt.h"

namespace gannet::jobs {
namespace {

// A wait longer than this is told.
constexpr absl::Duration kWaitToTell = absl::Seconds(5);
constexpr absl::Duration kLookForStop = absl::Milliseconds(100);
// Prevents a busy loop when something is due but cannot be taken.
constexpr absl::Duration kLeastWait = absl::Milliseconds(20);

// After so many rounds in a row without progress the next would make none
// either.
constexpr int kMostFruitless = 2;
// The free space that is needed even if archive.min_free is 0.
constexpr uint64_t kLeastRoom = 16 << 20;

std::string Doing(proto::RoundPhase phase) {
  switch (phase) {
    case proto::GENERATE:
      return "generating";
    case proto::FETCH:
      return "fetching";
    case proto::UPDATE:
      return "updating";
    default:
      return "ending";
  }
}

OutcomeCounts ToOutcomes(const proto::RoundCounts& counts) {
  return {counts.fetched(), counts.unchanged(), counts.moved(),   counts.gone(),
          counts.failed(),  counts.blocked(),   counts.released()};
}

size_t SitesNow(const FederationNow& now) {
  return now.map == nullptr ? 1 : now.map->active_sites();
}

// The round gave pages back and completed none, and the next round would get
// the same pages. Pages of resting hosts do not count: they leave the frontier,
// and are waited for.
bool IsFruitless(const proto::RoundCounts& counts) {
  return ToOutcomes(counts).completed() == 0 && counts.released_awake() > 0;
}

void AddSince(const proto::RoundCounts& then, const proto::RoundCounts& now,
              RunSummary& sum) {
  OutcomeCounts& counts = sum.counts;
  counts.fetched += now.fetched() - then.fetched();
  counts.unchanged += now.unchanged() - then.unchanged();
  counts.moved += now.moved() - then.moved();
  counts.gone += now.gone() - then.gone();
  counts.failed += now.failed() - then.failed();
  counts.blocked += now.blocked() - then.blocked();
  counts.released += now.released() - then.released();
  for (const auto& [kind, pages] : now.failures()) sum.failures[kind] += pages;
  for (const auto& [kind, pages] : then.failures()) {
    sum.failures[kind] -= pages;
  }
  for (const auto& [kind, page] : now.failed_page()) {
    if (sum.failures[kind] <= 0) continue;
    if (auto url = storage::UrlFromSurt(storage::SurtOf(page)); url.ok()) {
      sum.failed_url[kind] = *std::move(url);
    }
  }
  sum.bytes += now.bytes() - then.bytes();
}

}  // namespace

Rounds::Rounds(RoundSettings settings, storage::SiteStore* store,
               storage::Clock& clock)
    : settings_(std::move(settings)),
      store_(store),
      clock_(clock),
      fetch_(settings_.fetch, clock) {
  summary_.phase_seconds = {
      {"generate", 0}, {"fetch", 0}, {"update", 0}, {"exchange", 0}};
}

absl::StatusOr<bool> Rounds::RunOne(const std::atomic<bool>& stop) {
  storage::CrawlDb& db = store_->crawl_db();
  was_resumed_ = db.round().journal().phase() != proto::NO_ROUND;
  if (!was_resumed_) {
    const FederationNow now = LookAtFederation();
    {
      storage::MutexLock lock(&mu_);
      may_begin_ = now.may_begin;
      if (may_begin_.ok() && PagesToGo() == 0) {
        may_begin_ = absl::FailedPreconditionError(fmt::format(
            "all of the {} pages that crawl.max_pages allows are fetched",
            settings_.max_pages));
      }
    }
    if (!now.may_begin.ok() || PagesToGo() == 0) return false;
    absl::StatusOr<bool> has_work = HasWork(db, GenerateNow(now), clock_.Now());
    if (!has_work.ok() || !*has_work) return has_work;
    if (absl::Status status = CheckSpace(); !status.ok()) return status;
    if (absl::Status s = db.round().Open(clock_.Now()); !s.ok()) return s;
  }
  const absl::Duration time_limit =
      std::min(settings_.time_limit, run_ends_ - clock_.SteadyNow());
  {
    storage::MutexLock lock(&mu_);
    counts_before_ = db.round().journal().counts();
    max_lag_ = absl::Microseconds(counts_before_.max_lag_us());
    held_back_ = absl::Microseconds(counts_before_.held_back_us());
    is_running_ = true;
    round_started_ = clock_.Now();
    deadline_ = round_started_ + time_limit;
  }
  GiveNotice();
  const absl::Status status = Finish(clock_.SteadyNow() + time_limit, stop);
  if (status.ok()) return true;
  (void)LeavePhase();  // `status` says enough.
  const proto::RoundJournal journal = db.round().journal();
  AddToSummary(journal.counts());
  if (!absl::IsCancelled(status)) return status;
  return absl::CancelledError(
      fmt::format("round {} stopped while {}: nothing is lost, and the next "
                  "'gannet round' goes on with it",
                  journal.number(), Doing(journal.phase())));
}

void Rounds::GiveNotice() const {
  if (!settings_.notice) return;
  const absl::Status status =
      TlsTrust::For(settings_.fetch.fetch.download.ca_file)->CheckStillThere();
  if (!status.ok()) settings_.notice(std::string(status.message()));
}

// Each phase looks where the journal stands: what is done is not done again.
absl::Status Rounds::Finish(absl::Time deadline,
                            const std::atomic<bool>& stop) {
  storage::CrawlDb& db = store_->crawl_db();

  if (db.round().journal().phase() == proto::GENERATE) {
    if (absl::Status s = Enter(proto::GENERATE); !s.ok()) return s;
    absl::StatusOr<int64_t> pages =
        Generate(db, GenerateNow(LookAtFederation()));
    if (!pages.ok()) return pages.status();
    // Beyond this point the fetch list never grows.
    if (absl::Status s = db.round().SetPhase(proto::FETCH); !s.ok()) return s;
  }

  if (db.round().journal().phase() == proto::FETCH) {
    if (absl::Status s = Enter(proto::FETCH); !s.ok()) return s;
    absl::Status s = fetch_.Run(*store_, SitesNow(LookAtFederation()), deadline,
                                stop, [this] { return IsOut(); });
    const FetchView fetched = TakeNetworkLag();
    s.Update(db.round().AddNetworkLag(fetched.max_lag, fetched.held_back));
    if (!s.ok()) return s;
    if (stop) return absl::CancelledError("stopped while fetching");
    // Beyond this point no page is completed, and no outlink added.
    if (absl::Status s = db.round().SetPhase(proto::UPDATE); !s.ok()) return s;
  }

  if (absl::Status s = Enter(proto::UPDATE); !s.ok()) return s;
  const FederationNow now = LookAtFederation();
  if (absl::Status s =
          Update(db, UpdateNow(now), clock_.Now(), stop, update_view_);
      !s.ok()) {
    return s;
  }

  if (settings_.federation != nullptr) {
    if (absl::Status s = Enter(proto::EXCHANGE); !s.ok()) return s;
    if (absl::Status s = settings_.federation->OnSettled(); !s.ok()) return s;
  }
  return WriteReport(now);
}

// The journal gets it when the phase has ended; until then it is added for
// readers, exactly once.
FetchView Rounds::TakeNetworkLag() {
  storage::MutexLock lock(&mu_);
  FetchView fetched = fetch_.TakeLastView();
  summary_.held_back += fetched.held_back;
  max_lag_ = std::max(max_lag_, fetched.max_lag);
  held_back_ += fetched.held_back;
  return fetched;
}

FederationNow Rounds::LookAtFederation() const {
  if (settings_.federation != nullptr) return settings_.federation->Snapshot();
  FederationNow none;
  none.may_begin = absl::OkStatus();
  return none;
}

int64_t Rounds::PagesToGo() const {
  const auto width = static_cast<int64_t>(settings_.generate.width);
  if (settings_.max_pages == 0) return width;
  const int64_t fetched =
      store_->crawl_db().totals().pages_by_state[proto::FETCHED];
  return std::clamp<int64_t>(settings_.max_pages - fetched, 0, width);
}

bool Rounds::IsOut() const {
  return settings_.federation != nullptr && settings_.federation->IsOut();
}

GenerateSettings Rounds::GenerateNow(const FederationNow& now) const {
  GenerateSettings generate = settings_.generate;
  generate.width = static_cast<size_t>(PagesToGo());
  generate.map = now.map;
  generate.may_crawl = now.may_crawl;
  return generate;
}

UpdateSettings Rounds::UpdateNow(const FederationNow& now) const {
  UpdateSettings update = settings_.update;
  update.map = now.map;
  update.sent = now.sent;
  return update;
}

absl::Status Rounds::WriteReport(const FederationNow& now) {
  if (absl::Status s = LeavePhase(); !s.ok()) return s;
  storage::CrawlDb& db = store_->crawl_db();
  const proto::RoundJournal journal = db.round().journal();
  ReportedExchange exchange;
  exchange.map = now.map;
  if (settings_.federation != nullptr) {
    exchange.bytes_sent = settings_.federation->TakeBytesSent();
  }
  const std::string report =
      RoundReport(journal, db.totals(), clock_.Now(), was_resumed_, exchange);
  // Before closing, which clears the journal's counts: a reader of lifetime()
  // must never see a sum fall.
  AddToSummary(journal.counts());
  if (absl::Status s = db.round().Close(report); !s.ok()) return s;
  CountRound();
  fruitless_ = IsFruitless(journal.counts()) ? fruitless_ + 1 : 0;
  return absl::OkStatus();
}

// What another process did of the round is in its own summary.
void Rounds::AddToSummary(const proto::RoundCounts& counts) {
  storage::MutexLock lock(&mu_);
  AddSince(counts_before_, counts, summary_);
  counts_before_ = counts;
  is_running_ = false;
}

void Rounds::CountRound() {
  storage::MutexLock lock(&mu_);
  ++summary_.rounds;
}

RunSummary Rounds::summary() const {
  storage::MutexLock lock(&mu_);
  return summary_;
}

RunSummary Rounds::lifetime() const {
  storage::MutexLock lock(&mu_);
  RunSummary sum = summary_;
  if (is_running_) {
    AddSince(counts_before_, store_->crawl_db().round().journal().counts(),
             sum);
  }
  sum.held_back += fetch_.view_not_taken().held_back;
  if (phase_ != proto::NO_ROUND) {
    sum.phase_seconds[PhaseName(phase_)] +=
        absl::ToDoubleSeconds(clock_.SteadyNow() - phase_began_);
  }
  return sum;
}

absl::Status Rounds::CheckProgress() const {
  if (fruitless_ < kMostFruitless) return absl::OkStatus();
  const FetchSettings& fetch = settings_.fetch.fetch;
  return absl::FailedPreconditionError(fmt::format(
      "{} rounds in a row gave all their pages back unfetched, and so would "
      "the "
      "next. No host is asked before its delay has passed, and for robots.txt "
      "first: crawl.time_limit ({}) must be well above fetch.delay ({}; in a "
      "federation that times the number of sites, by fetch.share_addresses), "
      "and above what a robots.txt may ask for, fetch.max_crawl_delay ({})",
      kMostFruitless, absl::FormatDuration(settings_.time_limit),
      absl::FormatDuration(fetch.delay),
      absl::FormatDuration(fetch.max_crawl_delay)));
}

absl::Status Rounds::RunMany(std::optional<int64_t> most, absl::Duration wait,
                             const std::atomic<bool>& stop) {
  const absl::Time started = clock_.SteadyNow();
  run_ends_ = started + settings_.max_time;
  absl::Status status;
  RunEnd end = RunEnd::kRounds;
  fruitless_ = 0;
  while (!most.has_value() || summary().rounds < *most) {
    if (stop) {
      status = absl::CancelledError("stopped between rounds");
      break;
    }
    if (clock_.SteadyNow() >= run_ends_) {
      end = RunEnd::kTime;
      break;
    }
    absl::StatusOr<bool> done = RunOne(stop);
    if (!done.ok()) {
      status = done.status();
      break;
    }
    if (*done) {
      end = RunEnd::kRounds;
      // The last round of a limited run may have had too little time.
      if (clock_.SteadyNow() < run_ends_) status = CheckProgress();
      if (status.ok()) continue;
      break;
    }
    end = PagesToGo() == 0 ? RunEnd::kPages : RunEnd::kNothingLeft;
    if (end == RunEnd::kPages) break;
    // Nothing to do now; perhaps soon.
    absl::StatusOr<std::optional<absl::Time>> due =
        store_->crawl_db().frontier().NextDue();
    if (!due.ok()) {
      status = due.status();
      break;
    }
    if (!due->has_value() || **due > clock_.Now() + wait) break;
    if (settings_.on_wait && **due > clock_.Now() + kWaitToTell) {
      {
        storage::MutexLock lock(&mu_);
        summary_.elapsed = clock_.SteadyNow() - started;
      }
      settings_.on_wait(**due);
    }
    const absl::Time until = std::max(**due, clock_.Now() + kLeastWait);
    {
      storage::MutexLock lock(&mu_);
      waiting_until_ = until;
    }
    while (!stop && clock_.Now() < until && clock_.SteadyNow() < run_ends_) {
      clock_.SleepFor(std::min(kLookForStop, until - clock_.Now()));
    }
    storage::MutexLock lock(&mu_);
    waiting_until_ = absl::InfinitePast();
  }
  storage::MutexLock lock(&mu_);
  summary_.elapsed = clock_.SteadyNow() - started;
  if (status.ok()) summary_.end = end;
  return status;
}

bool Rounds::HasRoom() const {
  std::error_code error;
  const std::filesystem::space_info space =
      std::filesystem::space(settings_.data_folder, error);
  return !error && space.available >= std::max(settings_.min_free, kLeastRoom);
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

absl::Status Rounds::Enter(proto::RoundPhase phase) {
  if (absl::Status s = LeavePhase(); !s.ok()) return s;
  storage::MutexLock lock(&mu_);
  phase_ = phase;
  phase_began_ = clock_.SteadyNow();
  phase_started_ = clock_.Now();
  const OutcomeCounts counts =
      ToOutcomes(store_->crawl_db().round().journal().counts());
  planned_ = store_->crawl_db().totals().round_pages + counts.completed() +
             counts.released;
  return absl::OkStatus();
}

absl::Status Rounds::LeavePhase() {
  proto::RoundPhase phase = proto::NO_ROUND;
  absl::Duration time;
  {
    storage::MutexLock lock(&mu_);
    if (phase_ == proto::NO_ROUND) return absl::OkStatus();
    phase = std::exchange(phase_, proto::NO_ROUND);
    time = clock_.SteadyNow() - phase_began_;
    summary_.phase_seconds[PhaseName(phase)] += absl::ToDoubleSeconds(time);
  }
  return store_->crawl_db().round().AddPhaseTime(phase, time);
}

ProgressView Rounds::view() const {
  const proto::RoundJournal journal = store_->crawl_db().round().journal();
  const FetchView fetch = fetch_.view();
  ProgressView view;
  view.round = journal.number();
  view.counts = ToOutcomes(journal.counts());
  view.bytes = std::max(journal.counts().bytes(), fetch.bytes);
  view.hosts_active = fetch.hosts_active;
  view.connections = fetch.connections;
  view.lag = fetch.lag;
  view.targets = update_view_.targets;
  view.settled = update_view_.settled;
  storage::MutexLock lock(&mu_);
  const FetchView lagging = fetch_.view_not_taken();
  view.max_lag = std::max(max_lag_, lagging.max_lag);
  view.held_back = held_back_ + lagging.held_back;
  view.phase = phase_;
  view.phase_started = phase_started_;
  view.round_started = round_started_;
  view.deadline = deadline_;
  view.planned = planned_;
  view.waiting_until = waiting_until_;
  return view;
}

}  // namespace gannet::jobs
