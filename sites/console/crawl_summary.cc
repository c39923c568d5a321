#include "sites/console/crawl_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/fetch/failure.h"
#include "sites/admin/message_json.h"
#include "sites/admin/message_times.h"
#include "sites/admin/names.h"
#include "sites/admin/outcomes.h"
#include "sites/config/quantity.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

constexpr size_t kMostFailures = 5;

double PagesPerSecond(const admin::RunCounts& counts) {
  return counts.seconds() > 0
             ? static_cast<double>(Completed(counts.outcomes())) /
                   counts.seconds()
             : 0;
}

std::string InTime(const google::protobuf::Timestamp& time, absl::Time now) {
  const absl::Duration left =
      std::max(absl::Ceil(FromMessage(time) - now, absl::Seconds(1)),
               absl::ZeroDuration());
  return DurationText(
      left > absl::Minutes(10) ? absl::Ceil(left, absl::Minutes(1)) : left);
}

std::string EndText(const CrawlSummary& summary) {
  const std::string& end = summary.counts.end();
  if (end == "pages") {
    return fmt::format(
        "ended: {} pages are fetched, the most that --max-pages "
        "(crawl.max_pages) allows\n",
        summary.max_pages);
  }
  if (end == "time") {
    return "ended: the time of --max-time is over; the same command goes on\n";
  }
  if (end == "nothing_left") return "ended: nothing is left to fetch now\n";
  return "";
}

// What went wrong how often, most often first.
std::string FailuresText(const admin::RunCounts& counts) {
  std::vector<std::pair<int64_t, std::string>> kinds;
  for (const auto& [kind, pages] : counts.failures()) {
    kinds.emplace_back(-pages, kind);
  }
  std::sort(kinds.begin(), kinds.end());
  std::string text;
  int64_t others = 0;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const auto& [pages, kind] = kinds[i];
    if (i >= kMostFailures) {
      others -= pages;
      continue;
    }
    text += fmt::format("{:>9} failed: {} ({})\n", -pages,
                        jobs::WordsOfKind(kind).value_or("for another reason"),
                        ForTerminal(kind));
    if (const auto url = counts.failed_url().find(kind);
        url != counts.failed_url().end()) {
      text += fmt::format("{:>9} 'gannet check page {}' explains one\n", "",
                          ForTerminal(url->second));
    }
  }
  if (others > 0) text += fmt::format("{:>9} failed otherwise\n", others);
  // A moment of it is not worth a line.
  if (counts.held_back_seconds() >= 1) {
    text += fmt::format(
        "new connections were held back for {:.1f} s: this machine had no CPU "
        "time or sockets for more (no page failed for that)\n",
        counts.held_back_seconds());
  }
  return text;
}

std::string DoneText(const CrawlSummary& summary) {
  const admin::RunCounts& counts = summary.counts;
  const admin::Outcomes& outcomes = counts.outcomes();
  return fmt::format(
      "{} rounds in {:.1f} s: {} fetched ({} unchanged), {} moved, {} gone, {} "
      "failed, {} blocked; {:.1f} MB, {:.0f} pages/s\n",
      counts.rounds(), counts.seconds(), outcomes.fetched(),
      outcomes.unchanged(), outcomes.moved(), outcomes.gone(),
      outcomes.failed(), outcomes.blocked(),
      static_cast<double>(counts.bytes()) / 1e6, PagesPerSecond(counts));
}

std::string PlaceText(const CrawlSummary& summary) {
  return fmt::format("the pages are in {}/archive (WARC)\n", summary.data);
}

std::string LaterText(const CrawlSummary& summary) {
  const admin::Later& later = summary.later;
  std::string text;
  if (later.retries() > 0) {
    text += fmt::format(
        "{}{} pages that failed may be tried again, the first in {}\n",
        later.is_counted() ? "" : "at least ", later.retries(),
        InTime(later.next_retry(), summary.now));
  }
  if (later.resting_hosts() > 0 && summary.status.frontier() > 0) {
    text += fmt::format(
        "{} pages were not fetched because their hosts rest ({} hosts, the "
        "longest still {}: {}); 'gannet hosts' tells why\n",
        summary.status.frontier(), later.resting_hosts(),
        InTime(later.last_rest_end(), summary.now),
        ForTerminal(later.last_host()));
  }
  if (!text.empty()) {
    text += "the same command goes on with them; --wait TIME waits for them\n";
  }
  return text;
}

}  // namespace

nlohmann::json SummaryJson(const CrawlSummary& summary) {
  const admin::RunCounts& counts = summary.counts;
  const admin::Status& status = summary.status;
  nlohmann::json json = MessageJson(counts.outcomes());
  json.update({{"rounds", counts.rounds()},
               {"end", counts.end()},
               {"known", status.known()},
               {"frontier", status.frontier()},
               {"scheduled", status.scheduled()},
               {"retries", summary.later.retries()},
               {"resting_hosts", summary.later.resting_hosts()},
               {"deferred", status.deferred()},
               {"bytes", counts.bytes()},
               {"seconds", counts.seconds()},
               {"pages_per_second", PagesPerSecond(counts)},
               {"failures", MessageJson(counts)["failures"]},
               {"failed_url", MessageJson(counts)["failed_url"]},
               {"held_back_seconds", counts.held_back_seconds()},
               {"scope", status.scope()},
               {"phase_seconds", MessageJson(counts)["phase_seconds"]}});
  return json;
}

std::string SummaryText(const CrawlSummary& summary) {
  const admin::Status& status = summary.status;
  std::string text = EndText(summary) + DoneText(summary) +
                     FailuresText(summary.counts) +
                     fmt::format("{} pages are known:", status.known());
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
  return text + "\n" + PlaceText(summary) + LaterText(summary);
}

std::string WaitText(const CrawlSummary& so_far, absl::Time until) {
  return fmt::format(
      "so far: {}{}waiting {} for what is due then: {} pages that failed, {} "
      "hosts that rest. Ctrl-C ends it, and nothing is lost\n",
      DoneText(so_far), PlaceText(so_far),
      DurationText(absl::Ceil(until - so_far.now, absl::Seconds(1))),
      so_far.later.retries(), so_far.later.resting_hosts());
}

}  // namespace gannet::sites
