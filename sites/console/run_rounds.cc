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

nlohmann::json SummaryJson(const admin::RunCounts& counts,
                           const admin::Status& status) {
  const double seconds = counts.seconds();
  nlohmann::json json = MessageJson(counts.outcomes());
  json.update(
      {{"rounds", counts.rounds()},
       {"known", status.known()},
       {"frontier", status.frontier()},
       {"scheduled", status.scheduled()},
       {"deferred", status.deferred()},
       {"bytes", counts.bytes()},
       {"seconds", seconds},
       {"pages_per_second",
        seconds > 0
            ? static_cast<double>(Completed(counts.outcomes())) / seconds
            : 0.0},
       {"failures", MessageJson(counts)["failures"]},
       {"held_back_seconds", counts.held_back_seconds()},
       {"phase_seconds", MessageJson(counts)["phase_seconds"]}});
  return json;
}

// What went wrong how often, most often first.
std::string FailuresText(const admin::RunCounts& counts) {
  std::vector<std::pair<int64_t, std::string>> kinds;
  for (const auto& [kind, pages] : counts.failures()) {
    kinds.emplace_back(-pages, kind);
  }
  std::sort(kinds.begin(), kinds.end());
  std::string text;
  for (const auto& [pages, kind] : kinds) {
    text += fmt::format("{:>9} failed: {} ({})\n", -pages,
                        jobs::WordsOfKind(kind).value_or("for another reason"),
                        ForTerminal(kind));
  }
  // A moment of it is not worth a line.
  if (counts.held_back_seconds() >= 1) {
    text += fmt::format(
        "new connections were held back for {:.1f} s: this machine had no CPU "
        "time or sockets for more (no page failed for that)\n",
        counts.held_back_seconds());
  }
  return text;
}

std::string SummaryText(const admin::RunCounts& counts,
                        const admin::Status& status, const std::string& data) {
  const admin::Outcomes& outcomes = counts.outcomes();
  const double seconds = counts.seconds();
  std::string text = fmt::format(
      "{} rounds in {:.1f} s: {} fetched ({} unchanged), {} moved, {} gone, {} "
      "failed, {} blocked; {:.1f} MB, {:.0f} pages/s\n",
      counts.rounds(), seconds, outcomes.fetched(), outcomes.unchanged(),
      outcomes.moved(), outcomes.gone(), outcomes.failed(), outcomes.blocked(),
      static_cast<double>(counts.bytes()) / 1e6,
      seconds > 0 ? static_cast<double>(Completed(counts.outcomes())) / seconds
                  : 0.0);
  text += FailuresText(counts);
  text += fmt::format("{} pages are known:", status.known());
  const char* comma = " ";
  for (int state = 0; state < proto::PageState_ARRAYSIZE; ++state) {
    const std::string name = StateName(static_cast<proto::PageState>(state));
    const auto pages = status.pages().find(name);
    if (pages == status.pages().end() || pages->second == 0) continue;
    text += fmt::format("{}{} {}", comma, pages->second, name);
    comma = ", ";
  }
  if (status.deferred() > 0) {
    text += fmt::format("; {} URLs deferred", status.deferred());
  }
  text += "\n";
  text += fmt::format("the pages are in {}/archive (WARC)\n", data);
  return text;
}

// Prints what was done, and says why it ended.
ExitCode Conclude(const SiteFlags& flags, const std::string& data,
                  const admin::RunCounts& counts, const admin::Status& status,
                  const absl::Status& ended) {
  Output out;
  if (flags.json()) {
    out.WriteJson(SummaryJson(counts, status));
  } else if (ended.ok() || counts.rounds() > 0 ||
             Completed(counts.outcomes()) > 0) {
    out.Write(SummaryText(counts, status, data));
  }
  const ExitCode written = out.Finish();
  return ended.ok() ? written : Report(ended);
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

  storage::Clock& clock = storage::SystemClock();
  jobs::Rounds rounds(prepared->settings, &store, clock);
  StopOnSignals signals;
  ForegroundRounds foreground(site, store, rounds, stop_asked, clock);
  if (absl::Status served = foreground.Serve(); !served.ok()) {
    fmt::print(stderr, "note: other commands cannot ask this one: {}\n",
               ForTerminal(std::string(served.message())));
  }
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
  admin::Status known;
  if (absl::Status s = foreground.admin().GetStatus({}, known); !s.ok()) {
    status.Update(s);
  }
  return Conclude(flags, site.config.site.data, CountsMessage(rounds.summary()),
                  known, status);
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
  return Conclude(flags, site.config.site.data, last.summary(), last.status(),
                  ended);
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
