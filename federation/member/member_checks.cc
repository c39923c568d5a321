// `federation verify` and `federation plan`: questions to all sites, while they
// run.
#include <fmt/format.h>

#include <thread>
#include <utility>

#include "federation/member/membership.h"
#include "federation/member/move_estimate.h"
#include "federation/ownership/ownership.h"

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

// I4, this site's half: its pages belong here, or are about to move.
absl::StatusOr<storage::Check> Membership::CheckOwnership() {
  absl::StatusOr<storage::Check> check = LookAtOwnership();
  if (!check.ok() || check->ok) return check;
  // A page of another site may just have come: HandOff::WalkAgain() is called a
  // moment after it was stored.
  clock_.SleepFor(2 * kMoveEvery);
  return LookAtOwnership();
}

absl::StatusOr<storage::Check> Membership::LookAtOwnership() {
  storage::Check check;
  check.name = "I4: owner";
  check.ok = true;
  const auto view = maps_.view();
  if (view == nullptr) return check;
  const bool was_done = hand_off_.progress().is_done;
  const Ownership ownership(*view);
  int64_t hosts = 0, foreign = 0;
  std::string example;
  absl::Status status = crawl_db_.records().ScanHosts(
      {}, [&](std::string_view host, int64_t pages, const proto::HostRecord&) {
        ++hosts;
        if (pages == 0 || ownership.IsMine(host)) return true;
        ++foreign;
        if (example.empty()) example = std::string(host.substr(1));
        return true;
      });
  if (!status.ok()) return status;
  const bool is_moving = IsHandingOff(view->map()) || maps_.view() != view ||
                         !was_done || !hand_off_.progress().is_done;
  check.ok = foreign == 0 || is_moving;
  check.detail =
      foreign == 0
          ? fmt::format("all {} hosts are this site's", hosts)
          : fmt::format(
                "{} of {} hosts are another site's{}, for "
                "example {}",
                foreign, hosts, is_moving ? " and about to move" : "", example);
  return check;
}

absl::Status Membership::VerifySelf(bool full, peers::VerifyReply& reply) {
  auto checks = settings_.verify(full);
  if (!checks.ok()) return checks.status();
  auto owner = CheckOwnership();
  if (!owner.ok()) return owner.status();
  checks->push_back(*std::move(owner));
  for (const storage::Check& check : *checks) {
    peers::VerifyReply::Check& said = *reply.add_checks();
    said.set_name(check.name);
    said.set_ok(check.ok);
    said.set_detail(check.detail);
  }
  *reply.mutable_condition() = OwnCondition();
  return absl::OkStatus();
}

Conditions Membership::AskConditions() {
  Conditions all;
  auto replies = AskAll<peers::Condition>(
      [](Neighbour& neighbour, peers::Condition& reply) {
        if (absl::Status s = neighbour.Beat(); !s.ok()) return s;
        // It answers, but perhaps as an incarnation that the map does not know
        // yet.
        const auto condition = neighbour.Snapshot().condition;
        if (!condition.has_value()) {
          return absl::UnavailableError("it goes by another map");
        }
        reply = *condition;
        return absl::OkStatus();
      },
      [this](peers::Condition& reply) {
        reply = OwnCondition();
        return absl::OkStatus();
      });
  for (auto& [id, reply] : replies) {
    if (reply.ok()) all[id] = *std::move(reply);
  }
  return all;
}

absl::StatusOr<std::vector<FederationCheck>> Membership::VerifyAll(bool full) {
  const auto view = maps_.view();
  if (view == nullptr) {
    return absl::FailedPreconditionError("this site is in no federation");
  }
  auto greeting = Greeting();
  if (!greeting.ok()) return greeting.status();
  peers::VerifyRequest request;
  *request.mutable_greeting() = *std::move(greeting);
  request.set_full(full);
  auto replies = AskAll<peers::VerifyReply>(
      [&](Neighbour& neighbour, peers::VerifyReply& reply) {
        return neighbour.client().Verify(request, reply);
      },
      [&](peers::VerifyReply& reply) { return VerifySelf(full, reply); });

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

absl::StatusOr<Plan> Membership::MakePlan(const MapChange& change) {
  const auto view = maps_.view();
  if (view == nullptr) {
    return absl::FailedPreconditionError("this site is in no federation");
  }
  auto next = change(view->map());
  if (!next.ok()) return next.status();
  Plan plan;
  plan.next = *next;
  auto greeting = Greeting();
  if (!greeting.ok()) return greeting.status();
  peers::CountMovesRequest request;
  *request.mutable_greeting() = *greeting;
  *request.mutable_next() = *next;
  auto replies = AskAll<peers::MoveCounts>(
      [&](Neighbour& neighbour, peers::MoveCounts& reply) {
        return neighbour.client().CountMoves(request, reply);
      },
      [&](peers::MoveCounts& reply) {
        auto counts = CountOwnMoves(*next);
        if (counts.ok()) reply = *std::move(counts);
        return counts.status();
      });
  for (auto& [id, reply] : replies) {
    if (reply.ok()) {
      plan.by_site[id] = *std::move(reply);
    } else {
      plan.unknown[id] = std::string(reply.status().message());
    }
  }
  return plan;
}

absl::StatusOr<peers::MoveCounts> Membership::CountOwnMoves(const Map& next) {
  auto view = MapView::Create(next, settings_.self.name);
  if (!view.ok()) return view.status();
  peers::MoveCounts counts;
  std::map<uint32_t, peers::MoveCounts::To> moves;
  std::map<uint32_t, size_t> bytes_of_hosts;
  MoveEstimate estimate(crawl_db_);
  const Ownership ownership(**view);
  std::string last_channel;
  if (absl::Status s = crawl_db_.records().ScanHosts(
          {},
          [&](std::string_view host, int64_t pages,
              const proto::HostRecord& record) {
            const auto channel = ownership.ChannelOf(host);
            const auto owner = ownership.OwnerOf(host);
            if (!channel.has_value() || !owner.has_value()) return true;
            const bool is_new = channel->name != last_channel;
            last_channel = channel->name;
            counts.set_channels(counts.channels() + (is_new ? 1 : 0));
            counts.set_pages(counts.pages() + pages);
            if (ownership.IsMine(host)) return true;
            const auto to = static_cast<uint32_t>(*owner);
            peers::MoveCounts::To& move = moves[to];
            move.set_site(to);
            move.set_channels(move.channels() + (is_new ? 1 : 0));
            move.set_pages(move.pages() + pages);
            bytes_of_hosts[to] += host.size() + record.ByteSizeLong();
            estimate.Add(host, pages);
            return true;
          });
      !s.ok()) {
    return s;
  }
  const auto per_byte = estimate.PerByteNow();
  if (!per_byte.ok()) return per_byte.status();
  for (auto& [site, move] : moves) {
    const double bytes =
        static_cast<double>(move.pages()) * per_byte->bytes_of_page +
        static_cast<double>(bytes_of_hosts[site]);
    move.set_bytes(static_cast<int64_t>(bytes * per_byte->compressed));
    *counts.add_moves() = move;
  }
  return counts;
}

}  // namespace gannet::federation
