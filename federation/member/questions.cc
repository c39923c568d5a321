#include "federation/member/questions.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "storage/mutex.h"

namespace gannet::federation {
namespace {

const peers::PairCounts* FindPair(const Conditions& all, uint32_t site,
                                  uint32_t other) {
  const auto at = all.find(site);
  if (at == all.end()) return nullptr;
  for (const peers::PairCounts& pair : at->second.pairs()) {
    if (pair.site() == other) return &pair;
  }
  return nullptr;
}

// Checks one direction of a pair. The three looks are taken one after the
// other. So, even while batches are sent, what was acknowledged in the first
// look is received in the second, and what is received in the second is sent in
// the third. Where the numbers are equal, so must the cash be.
FederationCheck CheckPair(const proto::MapSite& from, const proto::MapSite& to,
                          const Conditions& first, const Conditions& second,
                          const Conditions& third) {
  FederationCheck check;
  check.name = fmt::format("I3: {} to {}", from.name(), to.name());
  const peers::PairCounts* before = FindPair(first, from.id(), to.id());
  const peers::PairCounts* there = FindPair(second, to.id(), from.id());
  const peers::PairCounts* after = FindPair(third, from.id(), to.id());
  if (before == nullptr || there == nullptr || after == nullptr) {
    check.is_unanswered = true;
    check.detail = "one of the two did not answer, or has another map";
    return check;
  }
  const auto agrees = [&](uint64_t number, int64_t cash) {
    return number != there->received() || cash == there->received_cash();
  };
  check.ok = before->acknowledged() <= there->received() &&
             there->received() <= after->sent() &&
             before->acknowledged_cash() <= there->received_cash() &&
             there->received_cash() <= after->sent_cash() &&
             agrees(before->acknowledged(), before->acknowledged_cash()) &&
             agrees(before->sent(), before->sent_cash()) &&
             agrees(after->acknowledged(), after->acknowledged_cash()) &&
             agrees(after->sent(), after->sent_cash());
  check.detail = fmt::format(
      "{} batches with {} units sent, {} with {} received, {} with {} "
      "acknowledged",
      after->sent(), after->sent_cash(), there->received(),
      there->received_cash(), before->acknowledged(),
      before->acknowledged_cash());
  return check;
}

}  // namespace

template <typename Reply>
std::map<uint32_t, absl::StatusOr<Reply>> Questions::AskAll(
    const std::function<absl::StatusOr<Reply>(Neighbour&)>& ask,
    const std::function<absl::StatusOr<Reply>()>& ask_self) {
  std::map<uint32_t, absl::StatusOr<Reply>> replies;
  storage::Mutex mu;
  const auto put = [&](uint32_t id, absl::StatusOr<Reply> reply) {
    storage::MutexLock lock(&mu);
    replies.insert_or_assign(id, std::move(reply));
  };
  std::vector<std::thread> questions;
  for (const auto& [id, neighbour] : neighbours_.all()) {
    questions.emplace_back(
        [&, id = id, neighbour = neighbour] { put(id, ask(*neighbour)); });
  }
  const auto view = own_.maps.view();
  if (view != nullptr && view->self() != nullptr) {
    put(view->self()->id(), ask_self());
  }
  for (std::thread& question : questions) question.join();
  return replies;
}

Conditions Questions::AskConditions() {
  Conditions all;
  auto replies = AskAll<peers::Condition>(
      [](Neighbour& neighbour) -> absl::StatusOr<peers::Condition> {
        if (absl::Status s = neighbour.Beat(); !s.ok()) return s;
        // It answers, but perhaps as an incarnation that the map does not know
        // yet.
        const auto condition = neighbour.Snapshot().condition;
        if (!condition.has_value()) {
          return absl::UnavailableError("it goes by another map");
        }
        return *condition;
      },
      [this] { return answers_.OwnCondition(); });
  for (auto& [id, reply] : replies) {
    if (reply.ok()) all[id] = *std::move(reply);
  }
  return all;
}

absl::StatusOr<std::vector<FederationCheck>> Questions::VerifyAll(bool full) {
  const auto view = own_.maps.view();
  if (view == nullptr) {
    return absl::FailedPreconditionError("this site is in no federation");
  }
  auto greeting = own_.Greeting();
  if (!greeting.ok()) return greeting.status();
  peers::VerifyRequest request;
  *request.mutable_greeting() = *std::move(greeting);
  request.set_full(full);
  auto replies = AskAll<peers::VerifyReply>(
      [&](Neighbour& neighbour) -> absl::StatusOr<peers::VerifyReply> {
        peers::VerifyReply reply;
        absl::Status status = neighbour.client().Verify(request, reply);
        if (!status.ok()) return status;
        return reply;
      },
      [&] { return answers_.Verify(full); });

  std::vector<FederationCheck> checks;
  for (const proto::MapSite& site : view->map().sites()) {
    if (!IsActive(site)) continue;
    const auto reply = replies.find(site.id());
    if (reply == replies.end() || !reply->second.ok()) {
      const absl::Status status = reply == replies.end()
                                      ? absl::UnavailableError("not met yet")
                                      : reply->second.status();
      // Data that cannot be read is a finding, not silence.
      checks.push_back(
          {{site.name(), false, std::string(status.message())},
           !absl::IsDataLoss(status) && !absl::IsInternal(status)});
      continue;
    }
    for (const auto& said : reply->second->checks()) {
      checks.push_back({{fmt::format("{}: {}", site.name(), said.name()),
                         said.ok(), said.detail()},
                        /*is_unanswered=*/false});
    }
  }
  const Conditions first = AskConditions();
  const Conditions second = AskConditions();
  const Conditions third = AskConditions();
  for (const proto::MapSite& from : view->map().sites()) {
    for (const proto::MapSite& to : view->map().sites()) {
      if (!IsActive(from) || !IsActive(to) || from.id() == to.id()) continue;
      checks.push_back(CheckPair(from, to, first, second, third));
    }
  }
  return checks;
}

bool Questions::AreAllQuiet(const Map& map) {
  const Conditions first = AskConditions();
  // One look that is not quiet is enough, also of a site that does not answer.
  return IsQuiet(map, first, first) && IsQuiet(map, first, AskConditions());
}

absl::StatusOr<Plan> Questions::MakePlan(const MapChange& change) {
  const auto view = own_.maps.view();
  if (view == nullptr) {
    return absl::FailedPreconditionError("this site is in no federation");
  }
  auto next = change(view->map());
  if (!next.ok()) return next.status();
  Plan plan;
  plan.next = *next;
  auto greeting = own_.Greeting();
  if (!greeting.ok()) return greeting.status();
  peers::CountMovesRequest request;
  *request.mutable_greeting() = *greeting;
  *request.mutable_next() = *next;
  auto replies = AskAll<peers::MoveCounts>(
      [&](Neighbour& neighbour) -> absl::StatusOr<peers::MoveCounts> {
        peers::MoveCounts reply;
        absl::Status status = neighbour.client().CountMoves(request, reply);
        if (!status.ok()) return status;
        return reply;
      },
      [&] { return answers_.CountMoves(*next); });
  for (auto& [id, reply] : replies) {
    if (reply.ok()) {
      plan.by_site[id] = *std::move(reply);
    } else {
      plan.unknown[id] = std::string(reply.status().message());
    }
  }
  return plan;
}

}  // namespace gannet::federation
