// Admission decides which URLs that are new to the site get in with one batch:
// they need enough cash, and their host must not be full. What does not get in
// is deferred, or dropped and counted. Private to this room; made for one
// batch.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/crawl_db/found_url.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

class Admission {
 public:
  // Of update: what waits for a URL counts with what it brings.
  static Admission OfTargets(Store& store, const AdmissionLimits& limits) {
    return Admission(store, limits, /*joins_deferred=*/true);
  }
  // Of the deferred, whose rows are taken out already.
  static Admission OfDeferred(Store& store, const AdmissionLimits& limits) {
    return Admission(store, limits, /*joins_deferred=*/false);
  }

  // Of `urls` (new, not blocked, in key order) returns those that get in, with
  // all of their cash; what waited for them leaves the deferred with this edit.
  absl::StatusOr<std::vector<FoundUrl>> Admit(Edit& edit,
                                              std::vector<FoundUrl> urls);

  const std::vector<FoundUrl>& deferred() const { return deferred_; }
  int64_t dropped() const { return dropped_; }
  int64_t with_least_cash() const { return with_least_cash_; }

 private:
  Admission(Store& store, const AdmissionLimits& limits, bool joins_deferred)
      : store_(store), limits_(limits), joins_deferred_(joins_deferred) {}

  bool HasEnough(int64_t cash) const {
    return cash > limits_.least_cash_for_new ||
           (cash == limits_.least_cash_for_new &&
            with_least_cash_ < limits_.most_with_least_cash);
  }
  void Drop(Edit& edit, const char* reason, const FoundUrl& url);

  Store& store_;
  const AdmissionLimits& limits_;
  const bool joins_deferred_;
  std::vector<FoundUrl> deferred_;
  int64_t dropped_ = 0;
  int64_t with_least_cash_ = 0;
};

}  // namespace gannet::storage
