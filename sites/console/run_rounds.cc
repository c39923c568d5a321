#include "sites/console/run_rounds.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/fetch/failure.h"
#include "jobs/round/round.h"
#include "sites/admin/message_times.h"
#include "sites/admin/names.h"
#include "sites/admin/outcomes.h"
#include "sites/agent/round_messages.h"
#include "sites/agent/round_settings.h"
#include "sites/console/crawl_summary.h"
#include "sites/console/foreground_rounds.h"
#include "sites/console/output.h"
#include "sites/console/progress_display.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

// Shared with the signal handler, which may touch nothing that locks.
static_assert(std::atomic<bool>::is_always_lock_free);
std::atomic<bool> stop_asked = false;
std::atomic<bool> stop_is_to_be_said = false;  // By the display.
std::atomic<bool> has_display = false;
std::atomic<bool> cursor_is_hidden = false;  // While the display lives.

void WriteToTerminal(std::string_view bytes) {
  [[maybe_unused]] const ssize_t n = write(2, bytes.data(), bytes.size());
}

void OnSignal(int signal) {
  if (stop_asked.exchange(true)) {
    if (cursor_is_hidden) WriteToTerminal(kShowCursor);
    _exit(kInterrupted);
  }
  if (signal != SIGINT) return;
  if (has_display) {
    stop_is_to_be_said = true;  // Its next picture would cover our line.
  } else {
    WriteToTerminal("\n");
    WriteToTerminal(kStopping);
    WriteToTerminal("\n");
  }
}

// The display, and what the signal handler must know of it.
class WatchedDisplay {
 public:
  WatchedDisplay(ProgressDisplay::GetProgress get_progress,
                 storage::Clock& clock) {
    has_display = true;
    cursor_is_hidden = TerminalOf(STDERR_FILENO).has_value();
    display_ = std::make_unique<ProgressDisplay>(
        std::move(get_progress), clock, STDERR_FILENO, &stop_is_to_be_said);
  }
  ~WatchedDisplay() {
    display_.reset();
    cursor_is_hidden = false;
    has_display = false;
  }

 private:
  std::unique_ptr<ProgressDisplay> display_;
};

// Ctrl-C and kill ask to stop while this lives.
class StopOnSignals {
 public:
  StopOnSignals() {
    struct sigaction action = {};
    action.sa_handler = OnSignal;
    sigaction(SIGINT, &action, &old_interrupt_);
    sigaction(SIGTERM, &action, &old_terminate_);
  }
  ~StopOnSignals() {
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
  }

 private:
  struct sigaction old_interrupt_ = {};
  struct sigaction old_terminate_ = {};
};

// Prints what was done, and says why it ended.
ExitCode Conclude(const SiteFlags& flags, const CrawlSummary& summary,
                  const absl::Status& ended) {
  Output out;
  if (flags.json()) {
    out.WriteJson(SummaryJson(summary));
  } else if (ended.ok() || summary.counts.rounds() > 0 ||
             Completed(summary.counts.outcomes()) > 0) {
    out.Write(SummaryText(summary));
  }
  const ExitCode written = out.Finish();
  return ended.ok() ? written : Report(ended);
}

// The site as it is now; what was done is left out.
CrawlSummary LookAt(const ChosenSite& site, Admin& admin,
                    const storage::Clock& clock, absl::Status& status) {
  CrawlSummary summary;
  summary.data = site.config.site.data;
  summary.max_pages = site.config.crawl.max_pages;
  summary.now = clock.Now();
  status.Update(admin.GetStatus({}, summary.status));
  status.Update(admin.GetLater({}, summary.later));
  return summary;
}

// Whether the run ended because nothing was left, or after the rounds asked
// for.
bool IsAllDone(const jobs::RunSummary& summary,
               const std::optional<int64_t>& most,
               const storage::Totals& totals) {
  if (!most.has_value() || summary.rounds < *most) return true;
  return totals.frontier_pages == 0 && totals.deferred_urls == 0;
}

ExitCode RunHere(const ChosenSite& site, const SiteFlags& flags,
                 storage::SiteStore& store) {
  if (site.config.federation.map != MapSource::kNone) {
    return Report(absl::FailedPreconditionError(
        "this site is in a federation (federation.map), so its rounds are run "
        "by its agent: start it with 'gannet serve', and 'gannet round' asks "
        "it"));
  }
  absl::StatusOr<PreparedRounds> prepared = PrepareRounds(site.config);
  if (!prepared.ok()) return Report(prepared.status());
  prepared->settings.notice = [](const std::string& notice) {
    fmt::print(stderr, "note: {}\n", ForTerminal(notice));
  };
  for (const std::string& notice : prepared->notices) {
    prepared->settings.notice(notice);
  }
  PrepareProcess(site.config);
  prepared->settings.max_time = flags.max_time();

  storage::Clock& clock = storage::SystemClock();
  // Called only while the rounds run, when all of this is there.
  std::function<void(absl::Time)> say_wait;
  bool wait_was_said = flags.quiet();
  prepared->settings.on_wait = [&](absl::Time until) {
    if (!std::exchange(wait_was_said, true)) say_wait(until);
  };
  jobs::Rounds rounds(prepared->settings, &store, clock);
  StopOnSignals signals;
  ForegroundRounds foreground(site, store, rounds, stop_asked, clock);
  if (absl::Status served = foreground.Serve(); !served.ok()) {
    fmt::print(stderr, "note: other commands cannot ask this one: {}\n",
               ForTerminal(std::string(served.message())));
  }
  say_wait = [&](absl::Time until) {
    absl::Status ignored;
    CrawlSummary so_far = LookAt(site, foreground.admin(), clock, ignored);
    so_far.counts = CountsMessage(rounds.summary());
    fmt::print(stderr, "{}", WaitText(so_far, until));
  };
  std::unique_ptr<WatchedDisplay> display;
  if (!flags.quiet()) {
    display =
        std::make_unique<WatchedDisplay>([&] { return rounds.view(); }, clock);
  }
  absl::Status status =
      rounds.RunMany(flags.rounds(), flags.wait(), stop_asked);
  display.reset();

  // The next page may be a long time away, so the file is finished and can be
  // released.
  if (status.ok() &&
      IsAllDone(rounds.summary(), flags.rounds(), store.crawl_db().totals())) {
    status = store.FinishArchiveFile();
  }
  CrawlSummary summary = LookAt(site, foreground.admin(), clock, status);
  summary.counts = CountsMessage(rounds.summary());
  return Conclude(flags, summary, status);
}

ExitCode RunThere(const ChosenSite& site, const SiteFlags& flags,
                  Admin& agent) {
  admin::RunRoundsRequest request;
  if (flags.rounds().has_value()) request.set_rounds(*flags.rounds());
  *request.mutable_wait() = ToMessage(flags.wait());
  StopOnSignals signals;
  storage::Mutex mu;
  jobs::ProgressView view;  // Guarded by mu.
  std::unique_ptr<WatchedDisplay> display;
  if (!flags.quiet()) {
    fmt::print(stderr,
               "an agent runs this site: it was asked for the rounds\n");
    display = std::make_unique<WatchedDisplay>(
        [&] {
          storage::MutexLock lock(&mu);
          return view;
        },
        storage::SystemClock());
  }
  admin::RunProgress last;
  const absl::Status ended =
      agent.RunRounds(request, [&](const admin::RunProgress& progress) {
        if (progress.has_summary()) last = progress;
        storage::MutexLock lock(&mu);
        view = ViewOf(progress.progress());
        return !stop_asked;
      });
  display.reset();
  if (stop_asked && ended.ok() && !last.has_summary()) {
    return Report(absl::CancelledError(
        "the agent goes on with the rounds; 'gannet round --stop' stops them, "
        "'--pause' lets the one that runs end and begins no other"));
  }
  CrawlSummary summary;
  summary.data = site.config.site.data;
  summary.now = storage::SystemClock().Now();
  summary.counts = last.summary();
  summary.status = last.status();
  if (ended.ok()) (void)agent.GetLater({}, summary.later);
  return Conclude(flags, summary, ended);
}

}  // namespace

absl::Status CheckFlags(const SiteFlags& flags, ReachedSite& reached) {
  const std::optional<std::string> given = flags.given_fetch_flag();
  if (reached.store() != nullptr || !given.has_value()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("an agent runs this site, by its own configuration: {} "
                  "cannot be given here. Change site.yaml and let the agent "
                  "read it again ('gannet round --reload')",
                  *given));
}

ExitCode RunRounds(const ChosenSite& site, const SiteFlags& flags,
                   ReachedSite& reached) {
  if (absl::Status s = CheckFlags(flags, reached); !s.ok()) return Report(s);
  return reached.store() != nullptr ? RunHere(site, flags, *reached.store())
                                    : RunThere(site, flags, reached.admin());
}

}  // namespace gannet::sites
