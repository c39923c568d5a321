// RoundsJob runs rounds for RoundRunner, one at a time: a site's rounds
// (site_rounds.h), or a script in a test. Thread-safe but for RunOne(),
// NextDue(), CheckProgress() and NothingIsLeft(), which are the runner's
// thread's.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "jobs/round/progress.h"
#include "jobs/round/round.h"

namespace gannet::sites {

// The last round that ended, by its report.
struct EndedRound {
  absl::Time started = absl::InfinitePast();  // That there was none.
  absl::Time ended = absl::InfinitePast();
  std::map<std::string, double> phase_seconds;
};

class RoundsJob {
 public:
  virtual ~RoundsJob() = default;

  // As jobs::Rounds::RunOne().
  virtual absl::StatusOr<bool> RunOne(const std::atomic<bool>& stop) = 0;
  virtual absl::StatusOr<std::optional<absl::Time>> NextDue() = 0;
  // As jobs::Rounds::may_begin().
  virtual absl::Status MayBegin() = 0;
  virtual absl::Status CheckProgress() = 0;
  // Who asked for rounds was told that nothing is left.
  virtual absl::Status NothingIsLeft() = 0;

  virtual bool HasOpenRound() = 0;
  // As jobs::Rounds::HasRoom().
  virtual bool HasRoom() = 0;
  virtual EndedRound LastEnded() = 0;
  virtual jobs::ProgressView view() = 0;
  virtual jobs::RunSummary lifetime() = 0;
};

}  // namespace gannet::sites
