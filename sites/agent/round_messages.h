// What rounds did, as messages of the admin API. Functions; thread-safe.
#pragma once

#include "jobs/round/progress.h"
#include "jobs/round/round.h"
#include "proto/admin.pb.h"

namespace gannet::sites {

jobs::RunSummary Sum(const jobs::RunSummary& a, const jobs::RunSummary& b);
// What was done since; both are looks at the same lifetime.
jobs::RunSummary Since(const jobs::RunSummary& then,
                       const jobs::RunSummary& now);

admin::RunCounts CountsMessage(const jobs::RunSummary& summary);
admin::Progress ProgressMessage(const jobs::ProgressView& view);
// And back.
jobs::ProgressView ViewOf(const admin::Progress& message);

}  // namespace gannet::sites
