// A page's score and the step of the frontier it stands on.
//
// The frontier's key holds the score in 256 logarithmic steps, four to each
// doubling: a page that gains a little cash stays where it is, and an index
// entry is rewritten only when the order would change by some 19 %. Small
// scores use fewer steps than there are; nothing is lost by it.
#pragma once

#include <bit>
#include <cstdint>

#include "proto/crawl_db.pb.h"

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

inline uint8_t StepOf(const proto::PageRecord& page) {
  return ScoreStep(Score(page));
}

}  // namespace gannet::storage
