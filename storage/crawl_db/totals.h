// Totals: where all cash is (invariant I3) and how many there are of
// everything, kept exactly and written with every batch, so that `status` and
// the ledger cost one read whatever the DB's size. A verb builds a delta (also
// a Totals) beside its batch; Store::Commit adds it. A plain value.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/keys.h"

namespace gannet::storage {

// Acknowledged and received cash are flows that only grow: after years they
// wrap around. So all sums are modulo 2^64, where I3 holds as well.
inline int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

struct Totals {
  // Units of cash.
  int64_t injected = 0;
  int64_t pages = 0;
  int64_t root = 0;
  int64_t round = 0;  // Shares of pages still to fetch, and unsettled outlinks.
  int64_t deferred = 0;
  int64_t outbox = 0;  // Waiting or being sent, with pages that move.
  int64_t acknowledged = 0;
  int64_t received = 0;
  int64_t handed_over = 0;
  int64_t taken_over = 0;
  std::map<std::string, int64_t> dropped;

  // Numbers of things.
  std::array<int64_t, proto::PageState_ARRAYSIZE> pages_by_state{};
  int64_t frontier_pages = 0;
  int64_t scheduled_pages = 0;
  int64_t round_pages = 0;
  int64_t finished_pages = 0;
  int64_t deferred_urls = 0;
  std::map<SiteId, int64_t> outbox_urls;  // With pages that move.
  int64_t dropped_urls = 0;

  bool operator==(const Totals&) const = default;

  int64_t KnownPages() const;
  int64_t Dropped() const;
  // What this site holds now.
  int64_t Held() const;
  // I3's left side; `injected` is its right side.
  int64_t AllCash() const;

  void Add(const Totals& delta);
  proto::Totals ToProto() const;
  static Totals FromProto(const proto::Totals& stored);
};

}  // namespace gannet::storage
