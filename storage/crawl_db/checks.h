// Checks says whether the invariants are true (verify.cc says how).
// Thread-safe: others may write meanwhile.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/crawl_db.pb.h"

namespace gannet::storage {

class Store;

struct Check {
  std::string name;
  bool ok = false;
  std::string detail;
};

class Checks {
 public:
  explicit Checks(Store& store) : store_(store) {}

  // Checks the invariants on a snapshot, while others write. Full: I1, I3 and
  // all counts, of every page and row. Else: the ledger and the open round, and
  // I1 of the pages and rows that changed since the last Verify that passed
  // (all, if that is no longer known). Calls `look` for each page that is
  // checked, so that the caller can check more; if it returns false, this
  // Verify has not passed.
  using LookAtPage =
      std::function<bool(std::string_view page, const proto::PageRecord&)>;
  absl::StatusOr<std::vector<Check>> Verify(bool full,
                                            const LookAtPage& look = {});

 private:
  Store& store_;
};

}  // namespace gannet::storage
