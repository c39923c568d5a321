// A round's report: one JSON object, kept in the crawl DB for ever (`gannet
// rounds` shows them). A function; thread-safe.
#pragma once

#include <map>
#include <string>

#include "absl/time/time.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/totals.h"

namespace gannet::jobs {

// `phase_seconds` are those of this process; a round that another began is
// marked as resumed.
std::string RoundReport(const proto::RoundJournal& journal,
                        const storage::Totals& totals, absl::Time ended,
                        const std::map<std::string, double>& phase_seconds,
                        bool was_resumed);

}  // namespace gannet::jobs
