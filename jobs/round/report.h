// A round's report: one JSON object, kept in the crawl DB for ever (`gannet
// rounds` shows them). A function; thread-safe.
#pragma once

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "federation/exchange/batch_bytes.h"
#include "federation/map/map_view.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/totals.h"

namespace gannet::jobs {

// The phase's key in `phase_seconds`.
std::string PhaseName(proto::RoundPhase phase);

// What a site of a federation adds: its map, which has the sites' names, and
// the bytes that it sent to others since the last report of this process (they
// leave beside the rounds, also after the one that found the URLs).
struct ReportedExchange {
  std::shared_ptr<const federation::MapView> map;  // Null: in no federation.
  federation::BatchBytes bytes_sent;
};

// What the round did is from its journal, and so of all processes that worked
// on it; a round that another process began is marked as resumed. What is known
// and what waits at its end is from the totals.
std::string RoundReport(const proto::RoundJournal& journal,
                        const storage::Totals& totals, absl::Time ended,
                        bool was_resumed,
                        const ReportedExchange& exchange = {});

}  // namespace gannet::jobs
