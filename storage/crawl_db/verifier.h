// Verifier is what Checks::Verify() does with one snapshot (verify.cc says
// how, verify_full.cc has the part that reads everything). Not thread-safe.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "storage/crawl_db/changed_rows.h"
#include "storage/crawl_db/checks.h"
#include "storage/crawl_db/hash128.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

// Of pages that break an invariant, so many are named.
inline constexpr size_t kMostNamed = 5;
inline std::string Readable(std::string_view page) {
  return std::string(SurtOf(page));
}

// A set of rows as the sum of their hashes.
struct RowSum {
  absl::uint128 sum = 0;
  int64_t rows = 0;
  void Add(std::string_view row, uint64_t with) {
    sum += Hash128(row, with);
    ++rows;
  }
  bool operator==(const RowSum&) const = default;
};

class Verifier {
 public:
  Verifier(Store& store, const Snapshot* at, const Checks::LookAtPage& look)
      : store_(store), at_(at), look_(look) {}

  absl::Status Full();
  absl::Status Changed(const ChangedRows& changed);
  // What costs only the round's width; part of both.
  absl::Status RoundAndLedger();

  std::vector<Check> TakeChecks() { return std::move(checks_); }
  // Whether the caller's own look found nothing.
  bool looked_fine() const { return looked_fine_; }

 private:
  using Visit =
      std::function<absl::Status(std::string_view key, std::string_view value)>;

  absl::Status Scan(Column column, std::string_view prefix, const Visit& visit);
  absl::Status Has(Column column, std::string_view key, bool& has);
  // Why the page breaks I1; empty if it does not.
  absl::Status Misplaced(std::string_view page, const proto::PageRecord& record,
                         std::string& why);
  absl::Status ScanPages();
  absl::Status ScanIndexes();
  absl::Status ScanWaiting();
  absl::Status NameMisplaced(std::string& detail);

  void Report(std::string name, bool ok, std::string detail) {
    checks_.push_back({std::move(name), ok, std::move(detail)});
  }
  void Compare(const std::string& name, int64_t counted, int64_t booked) {
    Report(name, counted == booked,
           counted == booked
               ? fmt::format("{}", counted)
               : fmt::format("counted {}, booked {}", counted, booked));
  }

  Store& store_;
  const Snapshot* at_;
  const Checks::LookAtPage& look_;
  bool looked_fine_ = true;
  std::vector<Check> checks_;
  Totals booked_;
  std::set<std::string> fetch_list_;

  // What the pages call for, and what is there.
  RowSum frontier_wanted_, frontier_found_;
  RowSum schedule_wanted_, schedule_found_;
  RowSum hosts_wanted_, hosts_found_;
  RowSum rests_wanted_, rests_found_;
  std::set<std::string> resting_hosts_;
  int64_t in_round_ = 0;
  Totals counted_;
};

}  // namespace gannet::storage
