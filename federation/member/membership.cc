#include "federation/member/membership.h"

#include <fmt/format.h>

#include <utility>

#include "federation/handoff/fence.h"
#include "federation/member/file_follower.h"
#include "federation/member/registrar_follower.h"

namespace gannet::federation {
namespace {

constexpr absl::Duration kWatchEvery = absl::Milliseconds(300);

BatchReceiverSettings ReceiverSettings(const MembershipSettings& settings) {
  BatchReceiverSettings receiver = settings.receiver;
  receiver.rules = settings.self.rules;
  return receiver;
}

}  // namespace

Membership::Membership(MembershipSettings settings, storage::CrawlDb& crawl_db,
                       uint64_t incarnation,
                       const storage::Canonicaliser& canonicaliser,
                       const storage::UrlFilter& filter, storage::Clock& clock)
    : settings_(std::move(settings)),
      losses_(crawl_db),
      life_(crawl_db, incarnation),
      maps_(
          settings_.self.name,
          [this](const Map& map) { return follower_->Keep(map); }, clock),
      own_{settings_.self, crawl_db, maps_, life_, clock, settings_.note},
      receiver_(ReceiverSettings(settings_), crawl_db, maps_, canonicaliser,
                filter, clock),
      hand_off_({}, crawl_db, clock),
      answers_(own_, hand_off_, losses_, settings_.answers),
      neighbours_(
          own_, [this] { return answers_.OwnCondition(); },
          settings_.neighbours, settings_.connect),
      registrar_(own_, neighbours_),
      questions_(own_, answers_, neighbours_),
      service_(own_, answers_, neighbours_, receiver_,
               MapIsAFile() ? nullptr : &registrar_),
      blocks_(crawl_db, settings_.note),
      scope_(crawl_db, settings_.note),
      quiet_([this] { return answers_.OwnCondition(); }, clock) {
  const auto is_handed_off = [this](const MapView& view) {
    return hand_off_.progress().handed_off >= PlacedStamp(view.map()) &&
           HaveHandedOff(view, neighbours_.Snapshots());
  };
  if (MapIsAFile()) {
    follower_ = std::make_unique<FileFollower>(
        own_, losses_, settings_.map_file, is_handed_off);
    return;
  }
  follower_ = std::make_unique<RegistrarFollower>(
      own_, losses_, settings_.join,
      [this](const std::string& address, const std::string& name,
             const peers::JoinRequest& request) {
        return neighbours_.AskToJoin(address, name, request);
      },
      registrar_, neighbours_, is_handed_off);
}

absl::StatusOr<std::unique_ptr<Membership>> Membership::Start(
    MembershipSettings settings, storage::CrawlDb& crawl_db,
    const storage::Canonicaliser& canonicaliser,
    const storage::UrlFilter& filter, storage::Clock& clock) {
  const auto identity = crawl_db.records().identity();
  if (!identity.ok()) return identity.status();
  std::unique_ptr<Membership> made(
      new Membership(std::move(settings), crawl_db, identity->incarnation(),
                     canonicaliser, filter, clock));
  if (absl::Status s = made->follower_->Load(); !s.ok()) return s;
  // A map of a file is read before anything is done by an older one.
  if (made->MapIsAFile()) made->SetError(made->follower_->Step());
  // A registrar asks its neighbours before it takes a change, and a change may
  // come at once.
  if (const auto view = made->maps_.view()) made->neighbours_.Meet(*view);
  auto server =
      PeerServer::Start(made->settings_.server, made->service_, clock);
  if (!server.ok()) return server.status();
  made->server_ = *std::move(server);
  made->watch_ = std::thread([member = made.get()] { member->Watch(); });
  made->mover_ =
      std::make_unique<Mover>(made->own_, made->hand_off_, made->receiver_);
  return made;
}

Membership::~Membership() {
  is_ending_ = true;
  maps_.Wake();
  neighbours_.Cancel();
  if (watch_.joinable()) watch_.join();
  mover_ = nullptr;
  if (server_ != nullptr) server_->Stop(absl::Seconds(1));
  neighbours_.End();
}

void Membership::SetError(const std::string& error) {
  {
    storage::MutexLock lock(&mu_);
    if (error == error_) return;
    error_ = error;
  }
  if (!error.empty()) settings_.note("federation_error", {{"error", error}});
}

void Membership::Watch() {
  std::shared_ptr<const MapView> applied;
  while (!is_ending_) {
    SetError(follower_->Step());
    const std::shared_ptr<const MapView> view = maps_.view();
    if (view != nullptr) {
      if (view != applied) {
        const Map& map = view->map();
        settings_.note("map_taken",
                       {{"epoch", std::to_string(map.epoch())},
                        {"term", std::to_string(TermNumber(map.term()))}});
        neighbours_.Meet(*view);
        if (settings_.on_map) settings_.on_map(*this);
        applied = view;
      }
      blocks_.Apply(view);
      scope_.Apply(view);
      quiet_.Update(view, neighbours_.Snapshots());
    }
    (void)maps_.Await(view, kWatchEvery, is_ending_);
  }
}

absl::Status Membership::MayBeginRound() {
  for (const auto& [site, neighbour] : neighbours_.all()) {
    if (neighbour->Snapshot().takes_us_for_a_copy) {
      return absl::FailedPreconditionError(
          fmt::format("'{}' takes this site for a copy: another process speaks "
                      "for it",
                      neighbour->site().name()));
    }
  }
  const auto view = maps_.view();
  if (view == nullptr || !own_.IsIn(*view)) {
    storage::MutexLock lock(&mu_);
    return absl::FailedPreconditionError(
        "this site is not in its federation" +
        (error_.empty() ? std::string(" yet") : ": " + error_));
  }
  if (view->map().paused()) {
    return absl::FailedPreconditionError(
        "the federation is paused: no site begins a round until 'gannet "
        "federation pause --resume'");
  }
  return CheckRules(view->map().rules(), settings_.self.rules);
}

absl::StatusOr<storage::HostFilter> Membership::MayCrawl(
    const std::shared_ptr<const MapView>& view) const {
  return federation::MayCrawl(view, own_.crawl_db);
}

BatchBytes Membership::bytes_sent() {
  BatchBytes sum;
  for (const auto& [site, seen] : neighbours_.Snapshots()) {
    sum.urls += seen.sent.bytes.urls;
    sum.pages += seen.sent.bytes.pages;
  }
  return sum;
}

FederationSnapshot Membership::Snapshot() {
  FederationSnapshot snapshot;
  snapshot.view = maps_.view();
  snapshot.received = receiver_.counts();
  snapshot.refused_calls = service_.refused_calls();
  snapshot.cut_streams = service_.cut_streams();
  if (snapshot.view != nullptr) {
    snapshot.self = answers_.OwnCondition();
    snapshot.registrar_is_reachable = snapshot.view->IsRegistrar();
    snapshot.neighbours = neighbours_.Snapshots();
    if (const auto at =
            snapshot.neighbours.find(snapshot.view->map().registrar());
        at != snapshot.neighbours.end()) {
      snapshot.registrar_is_reachable = at->second.answers;
    }
  }
  snapshot.is_quiet = quiet_.IsQuiet(snapshot.view);
  storage::MutexLock lock(&mu_);
  snapshot.error = error_;
  return snapshot;
}

FederationSnapshot Membership::FreshSnapshot() {
  FederationSnapshot snapshot = Snapshot();
  if (!snapshot.is_quiet) return snapshot;
  snapshot.is_quiet = questions_.AreAllQuiet(snapshot.view->map());
  return snapshot;
}

}  // namespace gannet::federation
