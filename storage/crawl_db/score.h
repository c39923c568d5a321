// A page's score and the step of the frontier it stands on.
//
// The frontier's key holds the score in 256 logarithmic steps, four to each
// doubling: a page that gains a little cash stays where it is, and an index
// entry is rewritten only when the order would change by some 19 %. Small
// scores use fewer steps than there are; nothing is lost by it.
#pragma once

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/order.h"

namespace gannet::storage {

// Stored on disk, in frontier keys: never change. ScoreStep(0) is 0, and it
// never falls as the score grows; the largest is 251.
inline uint8_t ScoreStep(uint64_t score) {
  if (score < 4) return static_cast<uint8_t>(score);
  const int exponent = std::bit_width(score) - 1;  // At least 2.
  const uint64_t quarter = (score >> (exponent - 2)) & 3;
  return static_cast<uint8_t>(4 * exponent + quarter - 4);
}

// OPIC's: the cash, and for a page that was fetched before also its history
// (which is zero until then).
inline uint64_t Score(const proto::PageRecord& page) {
  return static_cast<uint64_t>(page.cash()) +
         static_cast<uint64_t>(page.history());
}

inline constexpr uint8_t kBestStep = 251;

// The step of a page that stands in the frontier of a DB of this order. In the
// two that are not OPIC's a page never moves: its depth is that of the first
// link to it.
inline uint8_t StepOf(Order order, std::string_view page,
                      const proto::PageRecord& record) {
  switch (order) {
    case Order::kBreadthFirst:
      return static_cast<uint8_t>(
          kBestStep - std::min<uint32_t>(record.depth(), kBestStep));
    case Order::kRandom:
      return static_cast<uint8_t>(XXH3_64bits(page.data(), page.size()) %
                                  (kBestStep + 1));
    case Order::kOpic:
      break;
  }
  return ScoreStep(Score(record));
}

}  // namespace gannet::storage
