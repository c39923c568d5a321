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
          own_, [this] { return answers_.Condition(); }, settings_.neighbours,
          settings_.connect),
      registrar_(own_, neighbours_),
      questions_(own_, answers_, neighbours_),
      service_(own_, answers_, neighbours_, receiver_,
               MapIsAFile() ? nullptr : &registrar_),
      blocks_(crawl_db, settings_.note),
      quiet_([this] { return answers_.Condition(); }, clock) {
  const auto is_handed_off = [this](const MapView& view) {
    return hand_off_.progress().handed_off >= PlacedStamp(view.map()) &&
           neighbours_.HaveHandedOff(view);
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
      quiet_.Look(view, neighbours_.Snapshots());
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
  if (view == nullptr || view->self() == nullptr ||
      view->self()->incarnation() != life_.incarnation()) {
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
  FederationSnapshot look;
  look.view = maps_.view();
  look.received = receiver_.counts();
  look.refused_calls = service_.refused_calls();
  look.cut_streams = service_.cut_streams();
  if (look.view != nullptr) {
    look.self = answers_.Condition();
    const uint32_t registrar = look.view->map().registrar();
    look.registrar_is_reachable =
        look.view->self() != nullptr && registrar == look.view->self()->id();
    look.neighbours = neighbours_.Snapshots();
    if (const auto at = look.neighbours.find(registrar);
        at != look.neighbours.end()) {
      look.registrar_is_reachable = at->second.answers;
    }
  }
  look.is_quiet = quiet_.IsQuiet(look.view);
  storage::MutexLock lock(&mu_);
  look.error = error_;
  return look;
}

FederationSnapshot Membership::FreshSnapshot() {
  FederationSnapshot look = Snapshot();
  if (!look.is_quiet) return look;
  look.is_quiet = questions_.AreAllQuiet(look.view->map());
  return look;
}

}  // namespace gannet::federation
