#include "jobs/round/report.h"

#include <nlohmann/json.hpp>

#include "storage/crawl_db/crawl_db.h"

namespace gannet::jobs {
namespace {

// In the journal a site is a number; one that has left since keeps it.
std::string NameOf(const proto::FederationMap& map, uint32_t site) {
  const proto::MapSite* named = federation::FindSite(map, site);
  return named != nullptr ? named->name() : std::to_string(site);
}

nlohmann::json ExchangeJson(const proto::RoundCounts& counts,
                            const ReportedExchange& exchange) {
  const proto::FederationMap& map = exchange.map->map();
  const bool is_cash = map.rules().exchange() == proto::EXCHANGE_CASH;
  nlohmann::json sent_to = nlohmann::json::object();
  for (const auto& [site, urls] : counts.sent_to()) {
    sent_to[NameOf(map, site)] = urls;
  }
  const auto dropped = counts.dropped().find(storage::kSentBefore);
  return {
      {"mode", is_cash ? "cash" : "urls"},
      {"sent", counts.sent()},
      {"sent_to", sent_to},
      {"sent_cash", counts.sent_cash()},
      {"sent_before", counts.sent_before()},
      {"gained_cash", counts.gained_cash()},
      {"dropped_cash", dropped == counts.dropped().end() ? 0 : dropped->second},
      {"bytes",
       {{is_cash ? "cash" : "urls", exchange.bytes_sent.urls},
        {"pages", exchange.bytes_sent.pages}}}};
}

}  // namespace

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
                        bool was_resumed, const ReportedExchange& exchange) {
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
  nlohmann::json failures = nlohmann::json::object();
  for (const auto& [kind, pages] : counts.failures()) failures[kind] = pages;
  const auto seconds = [](int64_t us) {
    return absl::ToDoubleSeconds(absl::Microseconds(us));
  };
  nlohmann::json report = {
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
      {"failures", failures},
      {"network",
       {{"max_lag_seconds", seconds(counts.max_lag_us())},
        {"held_back_seconds", seconds(counts.held_back_us())}}},
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
  if (exchange.map != nullptr) {
    report["exchange"] = ExchangeJson(counts, exchange);
  }
  return report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace gannet::jobs
