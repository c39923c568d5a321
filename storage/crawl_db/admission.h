// Admission decides which URLs that are new to the site get in with one batch:
// they need enough cash, and their host must not be full. What does not get in
// is deferred, or dropped and counted. Private to this room; made for one
// batch.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

class Admission {
 public:
  // Of update: what waits for a URL counts with what it brings.
  static Admission OfTargets(CrawlDb& crawl_db, const Settlement& settlement) {
    return Admission(crawl_db, settlement, /*joins_deferred=*/true);
  }
  // Of the deferred, whose rows are taken out already.
  static Admission OfDeferred(CrawlDb& crawl_db, const Settlement& limits) {
    return Admission(crawl_db, limits, /*joins_deferred=*/false);
  }

  // Of `urls` (new, not blocked, in key order) returns those that get in, with
  // all of their cash; what waited for them leaves the deferred with this edit.
  absl::StatusOr<std::vector<Found>> Admit(Edit& edit, std::vector<Found> urls);

  const std::vector<Found>& deferred() const { return deferred_; }
  int64_t dropped() const { return dropped_; }
  int64_t with_least_cash() const { return with_least_cash_; }

 private:
  Admission(CrawlDb& crawl_db, const Settlement& settlement,
            bool joins_deferred)
      : crawl_db_(crawl_db),
        settlement_(settlement),
        joins_deferred_(joins_deferred) {}

  bool HasEnough(int64_t cash) const {
    return cash > settlement_.least_cash_for_new ||
           (cash == settlement_.least_cash_for_new &&
            with_least_cash_ < settlement_.most_with_least_cash);
  }
  void Drop(Edit& edit, const char* reason, const Found& url);

  CrawlDb& crawl_db_;
  const Settlement& settlement_;
  const bool joins_deferred_;
  std::vector<Found> deferred_;
  int64_t dropped_ = 0;
  int64_t with_least_cash_ = 0;
};

}  // namespace gannet::storage
