// Sums of what became of pages. Functions; thread-safe.
#pragma once

#include <cstdint>

#include "proto/admin.pb.h"

namespace gannet::sites {

// Pages that a round is done with. `unchanged` ones are among the fetched, and
// released ones are for another round.
inline int64_t Completed(const admin::Outcomes& of) {
  return of.fetched() + of.moved() + of.gone() + of.failed() + of.blocked();
}

}  // namespace gannet::sites
