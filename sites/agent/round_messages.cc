#include "sites/agent/round_messages.h"

#include <array>

#include "sites/admin/message_times.h"
#include "sites/admin/names.h"

namespace gannet::sites {
namespace {

// a + sign * b
jobs::RunSummary Combined(const jobs::RunSummary& a, int sign,
                          const jobs::RunSummary& b) {
  jobs::RunSummary sum = a;
  sum.rounds += sign * b.rounds;
  jobs::OutcomeCounts& counts = sum.counts;
  counts.fetched += sign * b.counts.fetched;
  counts.unchanged += sign * b.counts.unchanged;
  counts.moved += sign * b.counts.moved;
  counts.gone += sign * b.counts.gone;
  counts.failed += sign * b.counts.failed;
  counts.blocked += sign * b.counts.blocked;
  counts.released += sign * b.counts.released;
  sum.bytes += sign * b.bytes;
  for (const auto& [kind, pages] : b.failures) {
    sum.failures[kind] += sign * pages;
  }
  if (sign > 0) {
    for (const auto& [kind, url] : b.failed_url) sum.failed_url[kind] = url;
  }
  sum.held_back += sign * b.held_back;
  sum.elapsed += sign * b.elapsed;
  for (const auto& [phase, seconds] : b.phase_seconds) {
    sum.phase_seconds[phase] += sign * seconds;
  }
  return sum;
}

admin::Outcomes OutcomesMessage(const jobs::OutcomeCounts& counts) {
  admin::Outcomes message;
  message.set_fetched(counts.fetched);
  message.set_unchanged(counts.unchanged);
  message.set_moved(counts.moved);
  message.set_gone(counts.gone);
  message.set_failed(counts.failed);
  message.set_blocked(counts.blocked);
  message.set_released(counts.released);
  return message;
}

}  // namespace

jobs::RunSummary Sum(const jobs::RunSummary& a, const jobs::RunSummary& b) {
  return Combined(a, 1, b);
}

jobs::RunSummary Since(const jobs::RunSummary& then,
                       const jobs::RunSummary& now) {
  return Combined(now, -1, then);
}

admin::RunCounts CountsMessage(const jobs::RunSummary& summary) {
  static constexpr std::array<const char*, 4> kEnds = {"nothing_left", "rounds",
                                                       "pages", "time"};
  admin::RunCounts message;
  if (summary.end.has_value()) {
    message.set_end(kEnds[static_cast<size_t>(*summary.end)]);
  }
  message.set_rounds(summary.rounds);
  *message.mutable_outcomes() = OutcomesMessage(summary.counts);
  message.set_bytes(summary.bytes);
  message.set_held_back_seconds(absl::ToDoubleSeconds(summary.held_back));
  for (const auto& [kind, pages] : summary.failures) {
    if (pages > 0) (*message.mutable_failures())[kind] = pages;
  }
  for (const auto& [kind, url] : summary.failed_url) {
    if (message.failures().contains(kind)) {
      (*message.mutable_failed_url())[kind] = url;
    }
  }
  message.set_seconds(absl::ToDoubleSeconds(summary.elapsed));
  for (const auto& [phase, seconds] : summary.phase_seconds) {
    (*message.mutable_phase_seconds())[phase] = seconds;
  }
  return message;
}

admin::Progress ProgressMessage(const jobs::ProgressView& view) {
  admin::Progress message;
  message.set_round(view.round);
  message.set_phase(PhaseName(view.phase));
  if (view.phase != proto::NO_ROUND) {
    *message.mutable_phase_started() = ToMessage(view.phase_started);
    *message.mutable_round_started() = ToMessage(view.round_started);
    if (view.deadline != absl::InfiniteFuture()) {
      *message.mutable_deadline() = ToMessage(view.deadline);
    }
  }
  message.set_planned(view.planned);
  *message.mutable_outcomes() = OutcomesMessage(view.counts);
  message.set_bytes(view.bytes);
  message.set_hosts_active(view.hosts_active);
  message.set_connections(view.connections);
  message.set_lag_seconds(absl::ToDoubleSeconds(view.lag));
  message.set_max_lag_seconds(absl::ToDoubleSeconds(view.max_lag));
  message.set_held_back_seconds(absl::ToDoubleSeconds(view.held_back));
  message.set_targets(view.targets);
  message.set_settled(view.settled);
  if (view.waiting_until != absl::InfinitePast()) {
    *message.mutable_waiting_until() = ToMessage(view.waiting_until);
  }
  return message;
}

jobs::ProgressView ViewOf(const admin::Progress& message) {
  jobs::ProgressView view;
  view.round = message.round();
  for (int i = 0; i < proto::RoundPhase_ARRAYSIZE; ++i) {
    const auto phase = static_cast<proto::RoundPhase>(i);
    if (PhaseName(phase) == message.phase()) view.phase = phase;
  }
  view.phase_started = FromMessage(message.phase_started());
  view.round_started = FromMessage(message.round_started());
  if (message.has_deadline()) view.deadline = FromMessage(message.deadline());
  view.planned = message.planned();
  const admin::Outcomes& outcomes = message.outcomes();
  view.counts = {outcomes.fetched(), outcomes.unchanged(), outcomes.moved(),
                 outcomes.gone(),    outcomes.failed(),    outcomes.blocked(),
                 outcomes.released()};
  view.bytes = message.bytes();
  view.hosts_active = message.hosts_active();
  view.connections = message.connections();
  view.lag = absl::Seconds(message.lag_seconds());
  view.max_lag = absl::Seconds(message.max_lag_seconds());
  view.held_back = absl::Seconds(message.held_back_seconds());
  view.targets = message.targets();
  view.settled = message.settled();
  if (message.has_waiting_until()) {
    view.waiting_until = FromMessage(message.waiting_until());
  }
  return view;
}

}  // namespace gannet::sites
