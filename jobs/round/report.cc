#include "jobs/round/report.h"

#include <nlohmann/json.hpp>

namespace gannet::jobs {

std::string PhaseName(proto::RoundPhase phase) {
  switch (phase) {
    case proto::GENERATE:
      return "generate";
    case proto::FETCH:
      return "fetch";
    case proto::UPDATE:
      return "update";
    case proto::EXCHANGE:
      return "exchange";
    default:
      return "";
  }
}

std::string RoundReport(const proto::RoundJournal& journal,
                        const storage::Totals& totals, absl::Time ended,
                        bool was_resumed) {
  const proto::RoundCounts& counts = journal.counts();
  const absl::Time started = absl::FromUnixMillis(journal.opened_ms());
  nlohmann::json phases = {
      {"generate", 0}, {"fetch", 0}, {"update", 0}, {"exchange", 0}};
  for (const auto& [phase, us] : counts.phase_us()) {
    phases[PhaseName(static_cast<proto::RoundPhase>(phase))] =
        absl::ToDoubleSeconds(absl::Microseconds(us));
  }
  nlohmann::json dropped = nlohmann::json::object();
  for (const auto& [reason, cash] : counts.dropped()) dropped[reason] = cash;
  const nlohmann::json report = {
      {"round", journal.number()},
      {"started",
       absl::FormatTime(absl::RFC3339_sec, started, absl::UTCTimeZone())},
      {"seconds", absl::ToDoubleSeconds(ended - started)},
      {"resumed", was_resumed},
      {"fetched", counts.fetched()},
      {"unchanged", counts.unchanged()},
      {"moved", counts.moved()},
      {"gone", counts.gone()},
      {"failed", counts.failed()},
      {"blocked", counts.blocked()},
      {"released", counts.released()},
      {"bytes", counts.bytes()},
      {"found", counts.found()},
      {"added", counts.added()},
      {"known", totals.KnownPages()},
      {"frontier", totals.frontier_pages},
      {"scheduled", totals.scheduled_pages},
      {"deferred", counts.deferred()},
      {"waiting", totals.deferred_urls},
      {"dropped_urls", counts.dropped_urls()},
      {"dropped", dropped},
      {"phase_seconds", phases}};
  return report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace gannet::jobs
