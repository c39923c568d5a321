// Random verbs, drawn so that the crawl DB goes through whole rounds, and done
// to both the DB and the model. All randomness comes from a seed and the number
// of the verb, so that a process that resumes after a kill draws the same
// verbs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/crawl_db/crawl_db.h"
#include "tests/storage/crawl_db/model.h"

namespace gannet::storage::model {

// A small web, so that verbs meet: page `i` of host `h` of domain `d`.
PageKey PageOf(int d, int h, int i);

// With small caches and write buffers, so that little data goes through all of
// RocksDB. Aborts if it cannot be opened.
std::unique_ptr<CrawlDb> OpenSmallDb(const std::string& folder,
                                     std::optional<Order> order = std::nullopt);

// The invariants that do not hold, one per line; empty if all do.
std::string FailedChecks(CrawlDb& db, bool full);

struct Step {
  uint64_t seed = 0;
  int number = 0;
};

// Draws verb `step` for a DB in the state of `model`, does it to the model,
// and, if `db` is given, to the DB. Returns what went wrong or differs; empty
// if nothing.
std::string DoRandomVerb(const Step& step, Model& model, CrawlDb* db);

// How the DB differs from the model; empty if it does not. Runs Verify, full
// and incremental.
std::string Compare(const Model& model, CrawlDb& db);

}  // namespace gannet::storage::model
