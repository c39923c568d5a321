#include "sites/console/run_rounds.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>

#include "jobs/round/round.h"
#include "sites/console/names.h"
#include "sites/console/output.h"
#include "sites/console/progress_display.h"
#include "sites/console/round_settings.h"

namespace gannet::sites {
namespace {

std::atomic<bool> stop_asked = false;

void OnSignal(int signal) {
  if (stop_asked.exchange(true)) _exit(kInterrupted);
  static const char kSaid[] =
      "\nstopping: requests under way may end (Ctrl-C again: at once)\n";
  if (signal == SIGINT) {
    [[maybe_unused]] const ssize_t n = write(2, kSaid, sizeof kSaid - 1);
  }
}

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

// A connection each, the files of the crawl DB, and some.
void RaiseOpenFiles() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

nlohmann::json SummaryJson(const jobs::RunSummary& summary,
                           const storage::Totals& totals) {
  const double seconds = absl::ToDoubleSeconds(summary.elapsed);
  return {
      {"rounds", summary.rounds},
      {"fetched", summary.counts.fetched},
      {"unchanged", summary.counts.unchanged},
      {"moved", summary.counts.moved},
      {"gone", summary.counts.gone},
      {"failed", summary.counts.failed},
      {"blocked", summary.counts.blocked},
      {"released", summary.counts.released},
      {"known", totals.KnownPages()},
      {"frontier", totals.frontier_pages},
      {"scheduled", totals.scheduled_pages},
      {"deferred", totals.deferred_urls},
      {"bytes", summary.bytes},
      {"seconds", seconds},
      {"pages_per_second",
       seconds > 0 ? static_cast<double>(summary.counts.completed()) / seconds
                   : 0.0},
      {"phase_seconds", summary.phase_seconds}};
}

std::string SummaryText(const jobs::RunSummary& summary,
                        const storage::Totals& totals,
                        const std::string& data) {
  const jobs::OutcomeCounts& counts = summary.counts;
  const double seconds = absl::ToDoubleSeconds(summary.elapsed);
  std::string text = fmt::format(
      "{} rounds in {:.1f} s: {} fetched ({} unchanged), {} moved, {} gone, {} "
      "failed, {} blocked; {:.1f} MB, {:.0f} pages/s\n",
      summary.rounds, seconds, counts.fetched, counts.unchanged, counts.moved,
      counts.gone, counts.failed, counts.blocked,
      static_cast<double>(summary.bytes) / 1e6,
      seconds > 0 ? static_cast<double>(counts.completed()) / seconds : 0.0);
  text += fmt::format("{} pages are known:", totals.KnownPages());
  const char* comma = " ";
  for (int state = 0; state < proto::PageState_ARRAYSIZE; ++state) {
    if (totals.pages_by_state[state] == 0) continue;
    text += fmt::format("{}{} {}", comma, totals.pages_by_state[state],
                        StateName(static_cast<proto::PageState>(state)));
    comma = ", ";
  }
  if (totals.deferred_urls > 0) {
    text += fmt::format("; {} URLs deferred", totals.deferred_urls);
  }
  text += "\n";
  text += fmt::format("the pages are in {}/archive (WARC)\n", data);
  return text;
}

}  // namespace

ExitCode RunRounds(const ChosenSite& site, const SiteFlags& flags,
                   storage::SiteStore& store) {
  absl::StatusOr<PreparedRounds> prepared = PrepareRounds(site.config);
  if (!prepared.ok()) return Report(prepared.status());
  RaiseOpenFiles();
  if (site.config.fetch.low_priority) setpriority(PRIO_PROCESS, 0, 19);

  jobs::Rounds rounds(prepared->settings, &store);
  StopOnSignals signals;
  std::unique_ptr<ProgressDisplay> display;
  if (!flags.quiet()) {
    display = std::make_unique<ProgressDisplay>([&] { return rounds.view(); });
  }
  const absl::Status status =
      rounds.RunMany(flags.rounds(), flags.wait(), stop_asked);
  display.reset();

  Output out;
  const storage::Totals totals = store.crawl_db().totals();
  if (flags.json()) {
    out.WriteJson(SummaryJson(rounds.summary(), totals));
  } else if (status.ok() || rounds.summary().rounds > 0) {
    out.Write(SummaryText(rounds.summary(), totals, site.config.site.data));
  }
  const ExitCode written = out.Finish();
  return status.ok() ? written : Report(status);
}

}  // namespace gannet::sites
