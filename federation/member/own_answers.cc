#include "federation/member/own_answers.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "federation/member/move_estimate.h"
#include "federation/member/mover.h"
#include "federation/ownership/ownership.h"

namespace gannet::federation {
namespace {

// What becomes ready within this is waited for: a site with it is not idle.
constexpr absl::Duration kIdleWait = absl::Minutes(10);

// Some look-ups in the crawl DB for each neighbour. The caller adds what it
// does not know.
absl::StatusOr<peers::Condition> LookAtCondition(storage::CrawlDb& crawl_db,
                                                 const MapView& view,
                                                 absl::Time now) {
  const auto identity = crawl_db.records().identity();
  if (!identity.ok()) return identity.status();
  const auto next_due = crawl_db.frontier().NextDue();
  if (!next_due.ok()) return next_due.status();
  const storage::Totals totals = crawl_db.totals();
  peers::Condition condition;
  condition.set_pages(totals.KnownPages());
  condition.set_frontier(totals.frontier_pages);
  for (const auto& [site, urls] : totals.outbox_urls) {
    condition.set_outbox_urls(condition.outbox_urls() + urls);
  }
  condition.set_is_idle(
      crawl_db.round().journal().phase() == proto::NO_ROUND &&
      totals.frontier_pages == 0 && totals.deferred_urls == 0 &&
      (!next_due->has_value() || **next_due > now + kIdleWait));
  for (const proto::MapSite* peer : view.peers()) {
    const storage::SiteId site{peer->id()};
    const auto sent = crawl_db.outgoing().sent_pair(site);
    if (!sent.ok()) return sent.status();
    const auto received =
        crawl_db.incoming().received_pair({site, peer->incarnation()});
    if (!received.ok()) return received.status();
    peers::PairCounts& pair = *condition.add_pairs();
    pair.set_site(peer->id());
    if (sent->my_incarnation() == identity->incarnation() &&
        sent->their_incarnation() == peer->incarnation()) {
      pair.set_sent(sent->cut());
      pair.set_sent_cash(sent->cut_cash());
      pair.set_acknowledged(sent->acknowledged());
      pair.set_acknowledged_cash(sent->acknowledged_cash());
    }
    pair.set_received(received->last());
    pair.set_received_cash(received->cash());
  }
  return condition;
}

}  // namespace

peers::Condition OwnAnswers::OwnCondition() const {
  const auto view = own_.maps.view();
  if (view == nullptr) return {};
  auto condition = LookAtCondition(own_.crawl_db, *view, own_.clock.Now());
  if (!condition.ok()) return {};
  const HandOff::Progress moving = hand_off_.progress();
  condition->set_handed_off(moving.handed_off);
  condition->set_pages_to_hand_off(moving.pages_left);
  if (!losses_.Get().empty()) condition->set_is_idle(false);
  if (agent_.pages_per_second) {
    condition->set_pages_per_second(agent_.pages_per_second());
  }
  return *std::move(condition);
}

absl::StatusOr<peers::MoveCounts> OwnAnswers::CountMoves(
    const Map& next) const {
  auto view = MapView::Create(next, own_.self.name);
  if (!view.ok()) return view.status();
  peers::MoveCounts counts;
  std::map<uint32_t, peers::MoveCounts::To> moves;
  std::map<uint32_t, size_t> bytes_of_hosts;
  MoveEstimate estimate(own_.crawl_db);
  const Ownership ownership(**view);
  std::string last_channel;
  if (absl::Status s = own_.crawl_db.records().ScanHosts(
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

// I4, this site's half: its pages belong here, or are about to move.
absl::StatusOr<storage::Check> OwnAnswers::CheckOwnership() const {
  absl::StatusOr<storage::Check> check = LookAtOwnership();
  if (!check.ok() || check->ok) return check;
  // A page of another site may just have come: HandOff::WalkAgain() is called a
  // moment after it was stored.
  own_.clock.SleepFor(2 * Mover::kEvery);
  return LookAtOwnership();
}

absl::StatusOr<storage::Check> OwnAnswers::LookAtOwnership() const {
  storage::Check check;
  check.name = "I4: owner";
  check.ok = true;
  const auto view = own_.maps.view();
  if (view == nullptr) return check;
  const bool was_done = hand_off_.progress().is_done;
  const Ownership ownership(*view);
  int64_t hosts = 0, foreign = 0;
  std::string example;
  absl::Status status = own_.crawl_db.records().ScanHosts(
      {}, [&](std::string_view host, int64_t pages, const proto::HostRecord&) {
        ++hosts;
        if (pages == 0 || ownership.IsMine(host)) return true;
        ++foreign;
        if (example.empty()) example = std::string(host.substr(1));
        return true;
      });
  if (!status.ok()) return status;
  const bool is_moving = IsHandingOff(view->map()) ||
                         own_.maps.view() != view || !was_done ||
                         !hand_off_.progress().is_done;
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

absl::StatusOr<peers::VerifyReply> OwnAnswers::Verify(bool full) const {
  auto checks = agent_.verify(full);
  if (!checks.ok()) return checks.status();
  auto owner = CheckOwnership();
  if (!owner.ok()) return owner.status();
  checks->push_back(*std::move(owner));
  peers::VerifyReply reply;
  for (const storage::Check& check : *checks) {
    peers::VerifyReply::Check& said = *reply.add_checks();
    said.set_name(check.name);
    said.set_ok(check.ok);
    said.set_detail(check.detail);
  }
  *reply.mutable_condition() = OwnCondition();
  return reply;
}

}  // namespace gannet::federation
