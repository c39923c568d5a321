#include "federation/member/membership.h"

#include <fmt/format.h>

#include <random>
#include <set>
#include <utility>

#include "absl/time/clock.h"
#include "federation/exchange/greeting.h"
#include "federation/handoff/fence.h"
#include "federation/map/file_map.h"

namespace gannet::federation {
namespace {

// Notes in the crawl DB. On disk: never change them.
constexpr char kMapNote[] = "map";
constexpr char kBlockedNote[] = "blocked_by_map";

constexpr absl::Duration kWatchEvery = absl::Milliseconds(300);
constexpr absl::Duration kMoveEvery = absl::Milliseconds(200);
constexpr absl::Duration kJoinEvery = absl::Seconds(2);

uint64_t Random64() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

std::string Epoch(const Map& map) { return std::to_string(map.epoch()); }

}  // namespace

Membership::Membership(MembershipSettings settings, storage::CrawlDb& crawl_db,
                       uint64_t incarnation,
                       const storage::Canonicaliser& canonicaliser,
                       const storage::UrlFilter& filter)
    : settings_(std::move(settings)),
      crawl_db_(crawl_db),
      incarnation_(incarnation),
      process_(Random64()),
      started_(settings_.steady_now()),
      maps_(settings_.self.name,
            [&crawl_db](const Map& map) {
              return crawl_db.PutNote(kMapNote, map.SerializeAsString());
            }),
      receiver_(settings_.receiver, crawl_db, maps_, canonicaliser, filter),
      hand_off_({}, crawl_db),
      registrar_(maps_, {.client_of =
                             [this](const proto::MapSite& site) {
                               const auto neighbour = NeighbourOf(site.id());
                               return neighbour == nullptr
                                          ? nullptr
                                          : neighbour->shared_client();
                             },
                         .greeting = [this] { return Greeting(); },
                         .ask_neighbours = [this] { AskNeighbours(); }}) {
  if (MapIsAFile()) file_ = std::make_unique<FileMap>(settings_.map_file);
}

absl::StatusOr<std::unique_ptr<Membership>> Membership::Start(
    MembershipSettings settings, storage::CrawlDb& crawl_db,
    const storage::Canonicaliser& canonicaliser,
    const storage::UrlFilter& filter) {
  const auto identity = crawl_db.identity();
  if (!identity.ok()) return identity.status();
  std::unique_ptr<Membership> made(new Membership(std::move(settings), crawl_db,
                                                  identity->incarnation(),
                                                  canonicaliser, filter));
  const absl::StatusOr<std::string> map = crawl_db.GetNote(kMapNote);
  if (map.ok()) {
    if (absl::Status s = made->maps_.Load(*map); !s.ok()) return s;
  } else if (!absl::IsNotFound(map.status())) {
    return map.status();
  }
  // A map of a file is read before anything is done by an older one.
  if (made->MapIsAFile()) made->ReadFile();
  auto server = PeerServer::Start(made->settings_.server, *made);
  if (!server.ok()) return server.status();
  made->server_ = *std::move(server);
  made->watch_ = std::thread([member = made.get()] { member->Watch(); });
  made->mover_ = std::thread([member = made.get()] { member->Move(); });
  return made;
}

Membership::~Membership() {
  {
    storage::MutexLock lock(&mu_);
    is_ending_ = true;
    changed_.SignalAll();
  }
  for (const auto& [site, neighbour] : neighbours()) {
    neighbour->client().Cancel();
  }
  if (watch_.joinable()) watch_.join();
  if (mover_.joinable()) mover_.join();
  if (server_ != nullptr) server_->Stop(absl::Seconds(1));
  Neighbours last;
  {
    storage::MutexLock lock(&mu_);
    last.swap(neighbours_);
  }
}

void Membership::Note(
    std::string_view event,
    const std::vector<std::pair<std::string, std::string>>& fields) {
  if (settings_.note) settings_.note(event, fields);
}

void Membership::SetError(const std::string& error) {
  {
    storage::MutexLock lock(&mu_);
    if (error == error_) return;
    error_ = error;
  }
  if (!error.empty()) Note("federation_error", {{"error", error}});
}

absl::StatusOr<peers::Greeting> Membership::Greeting() const {
  const auto view = maps_.view();
  if (view == nullptr) {
    return absl::FailedPreconditionError("this site is in no federation");
  }
  auto greeting = MakeGreeting(*view, incarnation_);
  if (greeting.ok()) greeting->set_process(process_);
  return greeting;
}

peers::Condition Membership::OwnCondition() {
  const auto view = maps_.view();
  if (view == nullptr) return {};
  auto condition = LookAtCondition(crawl_db_, *view, absl::Now());
  if (!condition.ok()) return {};
  const HandOff::Progress moving = hand_off_.progress();
  condition->set_handed_off_epoch(moving.handed_off_epoch);
  condition->set_pages_to_hand_off(moving.pages_left);
  if (settings_.is_busy && settings_.is_busy()) condition->set_is_idle(false);
  if (settings_.pages_per_second) {
    condition->set_pages_per_second(settings_.pages_per_second());
  }
  return *std::move(condition);
}

std::shared_ptr<Neighbour> Membership::NeighbourOf(uint32_t site) {
  storage::MutexLock lock(&mu_);
  const auto at = neighbours_.find(site);
  return at == neighbours_.end() ? nullptr : at->second;
}

Membership::Neighbours Membership::neighbours() {
  storage::MutexLock lock(&mu_);
  return neighbours_;
}

void Membership::AskNeighbours() {
  std::vector<std::thread> questions;
  for (const auto& [site, neighbour] : neighbours()) {
    const NeighbourLook look = neighbour->Look();
    const bool is_new = settings_.steady_now() - started_ < absl::Seconds(10);
    if (!look.is_alive && !is_new) continue;
    questions.emplace_back(
        [neighbour = neighbour] { (void)neighbour->Beat(); });
  }
  for (std::thread& question : questions) question.join();
}

bool Membership::MayBeginRound() {
  for (const auto& [site, neighbour] : neighbours()) {
    if (neighbour->Look().takes_us_for_a_copy) return false;
  }
  const auto view = maps_.view();
  return view != nullptr && view->self() != nullptr &&
         view->self()->incarnation() == incarnation_ && !view->map().paused();
}

absl::StatusOr<storage::HostFilter> Membership::MayCrawl(
    const std::shared_ptr<const MapView>& view) const {
  return federation::MayCrawl(view, crawl_db_);
}

// --- The mover
// -------------------------------------------------------------------

void Membership::Move() {
  std::string error;
  uint64_t foreign = 0;
  for (;;) {
    const std::shared_ptr<const MapView> view = maps_.view();
    bool is_busy = false;
    if (view != nullptr) {
      // What came and is another's moves on.
      if (const uint64_t now = receiver_.counts().foreign; now != foreign) {
        foreign = now;
        hand_off_.WalkAgain();
      }
      const absl::StatusOr<bool> done = hand_off_.Step(
          *view, [&](storage::SiteId site) -> std::optional<storage::Peer> {
            const proto::MapSite* peer =
                FindSite(view->map(), static_cast<uint32_t>(site));
            if (peer == nullptr || !IsActive(*peer)) return std::nullopt;
            return storage::Peer{site, peer->incarnation()};
          });
      is_busy = done.ok() && !*done && !hand_off_.progress().is_waiting;
      const std::string now =
          done.ok() ? "" : std::string(done.status().message());
      if (now != error && !now.empty()) {
        Note("hand_off_error", {{"error", now}});
      }
      error = now;
    }
    storage::MutexLock lock(&mu_);
    if (is_ending_) return;
    if (!is_busy) changed_.WaitFor(&mu_, kMoveEvery);
    if (is_ending_) return;
  }
}

// --- The watch
// -----------------------------------------------------------------

void Membership::Watch() {
  for (;;) {
    if (MapIsAFile()) {
      ReadFile();
    } else {
      Found();
    }
    JoinIfNeeded();
    const std::shared_ptr<const MapView> view = maps_.view();
    if (view != nullptr) {
      if (view != applied_) {
        Note("map_taken", {{"epoch", Epoch(view->map())},
                           {"term", std::to_string(view->map().term())}});
        MeetNeighbours(*view);
        ApplyBlocks(*view);
        applied_ = view;
      }
      FinishHandOffIfDone(*view);
      LookForQuiet(*view);
    }
    {
      storage::MutexLock lock(&mu_);
      if (is_ending_) return;
    }
    if (view == nullptr) {
      storage::MutexLock lock(&mu_);
      if (!is_ending_) changed_.WaitFor(&mu_, kWatchEvery);
    } else {
      (void)maps_.Await(view, kWatchEvery);
    }
  }
}

void Membership::ReadFile() {
  absl::StatusOr<Map> map = file_->Get();
  absl::Status status = map.status();
  if (status.ok()) status = maps_.Offer(*map);
  SetError(status.ok() ? "" : std::string(status.message()));
}

// A site that has no map and nobody to ask for one is the first.
void Membership::Found() {
  if (maps_.view() != nullptr || !settings_.join.empty()) return;
  Applicant first = settings_.self;
  first.incarnation = incarnation_;
  auto map = FoundFederation(first, Random64(), {}, /*is_registrar=*/true);
  absl::Status status = map.status();
  if (status.ok()) status = maps_.Offer(*map);
  SetError(status.ok() ? "" : std::string(status.message()));
  if (status.ok()) Note("federation_founded", {{"site", first.name}});
}

void Membership::JoinIfNeeded() {
  if (MapIsAFile() || settings_.steady_now() < next_join_) return;
  const auto view = maps_.view();
  if (view != nullptr && view->self() != nullptr &&
      view->self()->incarnation() == incarnation_ &&
      view->self()->address() == settings_.self.address) {
    SetError("");
    return;
  }
  next_join_ = settings_.steady_now() + kJoinEvery;
  const absl::Status status = JoinNow();
  SetError(status.ok() ? "" : std::string(status.message()));
}

absl::Status Membership::JoinNow(const std::string& asked) {
  const auto view = maps_.view();
  peers::JoinRequest request;
  request.set_protocol(kProtocol);
  request.set_oldest_protocol(kOldestProtocol);
  *request.mutable_rules() = settings_.self.rules;
  request.set_process(process_);
  if (view != nullptr) {
    if (view->self() != nullptr) {
      request.set_replaces(view->self()->incarnation());
    } else if (!is_reborn_.exchange(true)) {
      // Removed as dead, and back: what others sent to that life is lost to
      // them, so this is another one.
      if (absl::Status s = crawl_db_.Reincarnate(); !s.ok()) return s;
      const auto identity = crawl_db_.identity();
      if (!identity.ok()) return identity.status();
      incarnation_ = identity->incarnation();
    }
  }
  proto::MapSite& site = *request.mutable_site();
  site.set_name(settings_.self.name);
  site.set_incarnation(incarnation_);
  site.set_address(settings_.self.address);
  *site.mutable_location() = settings_.self.location;
  site.set_capacity(settings_.self.capacity);

  // Whoever it is told to ask, else whoever it knew.
  std::vector<std::pair<std::string, std::string>> doors;  // Address, name.
  if (!asked.empty()) {
    doors.emplace_back(asked, "");
  } else if (!settings_.join.empty()) {
    doors.emplace_back(settings_.join, "");
  }
  if (view != nullptr && asked.empty()) {
    for (const proto::MapSite* peer : view->peers()) {
      doors.emplace_back(peer->address(), peer->name());
    }
  }
  absl::Status status = absl::FailedPreconditionError(
      "there is nobody to ask: federation.join names a site's address");
  for (const auto& [address, name] : doors) {
    PeerClient client(settings_.connect(address, name),
                      name.empty() ? "at " + address : name);
    peers::MapReply reply;
    status = client.Join(request, reply);
    if (!status.ok()) continue;
    status = maps_.Offer(reply.map());
    if (!status.ok()) continue;
    is_reborn_ = false;
    Note("federation_joined",
         {{"site", settings_.self.name}, {"epoch", Epoch(reply.map())}});
    return absl::OkStatus();
  }
  return status;
}

void Membership::MeetNeighbours(const MapView& view) {
  Neighbours gone, come;
  for (const auto& [id, neighbour] : neighbours()) {
    const proto::MapSite* site = FindSite(view.map(), id);
    if (site == nullptr || !IsActive(*site) ||
        site->incarnation() != neighbour->site().incarnation() ||
        site->address() != neighbour->site().address()) {
      gone[id] = neighbour;
    }
  }
  PumpSettings pump = settings_.pump;
  pump.process = process_;
  for (const proto::MapSite* site : view.peers()) {
    const auto known = NeighbourOf(site->id());
    // Who was removed goes on asking: it may be invited again.
    if (known != nullptr && !gone.contains(site->id())) continue;
    come[site->id()] = std::make_shared<Neighbour>(
        NeighbourParts{.crawl_db = crawl_db_,
                       .maps = maps_,
                       .greeting = [this] { return Greeting(); },
                       .condition = [this] { return OwnCondition(); },
                       .pump = pump,
                       .beat_every = settings_.beat_every,
                       .away_after = settings_.away_after,
                       .steady_now = settings_.steady_now},
        *site,
        std::make_shared<PeerClient>(
            settings_.connect(site->address(), site->name()), site->name()));
  }
  {
    storage::MutexLock lock(&mu_);
    for (const auto& [id, neighbour] : gone) neighbours_.erase(id);
    for (const auto& [id, neighbour] : come) neighbours_[id] = neighbour;
    is_quiet_ = false;
  }
  for (const auto& [id, neighbour] : gone) {
    Note("neighbour_gone", {{"site", neighbour->site().name()}});
  }
  for (const auto& [id, neighbour] : come) {
    Note("neighbour_new", {{"site", neighbour->site().name()},
                           {"address", neighbour->site().address()}});
  }
}

void Membership::ApplyBlocks(const MapView& view) {
  std::set<std::string> applied;
  if (const auto note = crawl_db_.GetNote(kBlockedNote); note.ok()) {
    proto::FederationMap before;  // Its field `blocked` only.
    if (before.ParseFromString(*note)) {
      applied.insert(before.blocked().begin(), before.blocked().end());
    }
  }
  const std::set<std::string> wanted(view.map().blocked().begin(),
                                     view.map().blocked().end());
  if (applied == wanted) return;
  absl::Status status;
  for (const std::string& domain : wanted) {
    if (applied.contains(domain)) continue;
    if (const auto pages = crawl_db_.Block(domain); !pages.ok()) {
      status = pages.status();
    }
  }
  for (const std::string& domain : applied) {
    if (wanted.contains(domain)) continue;
    if (const auto pages = crawl_db_.Unblock(domain);
        !pages.ok() && !absl::IsNotFound(pages.status())) {
      status = pages.status();
    }
  }
  proto::FederationMap note;
  *note.mutable_blocked() = view.map().blocked();
  if (status.ok()) {
    status = crawl_db_.PutNote(kBlockedNote, note.SerializeAsString());
  }
  if (!status.ok()) {
    Note("block_failed", {{"error", std::string(status.message())}});
  }
}

bool Membership::AllHaveHandedOff(const MapView& view) {
  const uint64_t epoch = view.map().placed_epoch();
  if (OwnCondition().handed_off_epoch() < epoch) return false;
  for (const proto::MapSite* site : view.peers()) {
    const auto neighbour = NeighbourOf(site->id());
    if (neighbour == nullptr) return false;
    const NeighbourLook look = neighbour->Look();
    if (!look.condition.has_value() ||
        look.condition->handed_off_epoch() < epoch) {
      return false;
    }
  }
  return true;
}

void Membership::FinishHandOffIfDone(const MapView& view) {
  const Map& map = view.map();
  if (!IsHandingOff(map) || MapIsAFile() || view.self() == nullptr ||
      map.registrar() != view.self()->id()) {
    return;
  }
  if (!AllHaveHandedOff(view)) return;
  const auto next = FinishHandOff(map);
  if (!next.ok()) return;
  if (registrar_.CompareAndSwap(map, *next).ok()) {
    Note("hand_off_done", {{"epoch", std::to_string(map.placed_epoch())}});
  }
}

void Membership::LookForQuiet(const MapView& view) {
  Conditions look;
  for (const proto::MapSite* site : view.peers()) {
    const auto neighbour = NeighbourOf(site->id());
    if (neighbour == nullptr) return;
    const NeighbourLook seen = neighbour->Look();
    if (!seen.is_alive || seen.epoch != view.map().epoch()) {
      storage::MutexLock lock(&mu_);
      is_quiet_ = false;
      return;
    }
    // Not asked since the last look: a little later.
    if (seen.condition_asked <= last_look_ended_) return;
    look[site->id()] = *seen.condition;
  }
  if (view.self() == nullptr) return;
  look[view.self()->id()] = OwnCondition();
  const bool is_quiet = IsQuiet(view.map(), last_look_, look);
  last_look_ = std::move(look);
  last_look_ended_ = settings_.steady_now();
  storage::MutexLock lock(&mu_);
  if (is_quiet && !is_quiet_) {
    quiet_view_ = maps_.view();
  }
  is_quiet_ = is_quiet;
}

FederationLook Membership::Look() {
  FederationLook look;
  look.view = maps_.view();
  look.received = receiver_.counts();
  look.refused_calls = refused_;
  if (look.view != nullptr) {
    look.self = OwnCondition();
    const uint32_t registrar = look.view->map().registrar();
    look.registrar_is_reachable =
        look.view->self() != nullptr && registrar == look.view->self()->id();
    for (const auto& [id, neighbour] : neighbours()) {
      look.neighbours[id] = neighbour->Look();
      if (id == registrar) {
        look.registrar_is_reachable = look.neighbours[id].is_alive;
      }
    }
  }
  {
    storage::MutexLock lock(&mu_);
    look.is_quiet = is_quiet_ && look.view == quiet_view_;
    look.error = error_;
  }
  if (look.is_quiet) {
    const Conditions first = AskConditions();
    look.is_quiet = IsQuiet(look.view->map(), first, AskConditions());
  }
  return look;
}

// --- What administrators ask for
// -------------------------------------------------

absl::StatusOr<Map> Membership::Change(const MapChange& change) {
  if (!MapIsAFile()) return ChangeMap(registrar_, change);
  absl::StatusOr<Map> map = file_->Get();
  if (!map.ok()) return map;
  if (federation::IsHandingOff(*map)) {
    // Nobody but the administrator could say that it is over.
    const auto view = maps_.view();
    if (view != nullptr && AllHaveHandedOff(*view)) map = FinishHandOff(*map);
  }
  if (!map.ok()) return map;
  return change(*map);
}

absl::StatusOr<Map> Membership::MapWithSelf() {
  Applicant self = settings_.self;
  self.incarnation = incarnation_;
  const absl::StatusOr<Map> map = file_->Get();
  if (absl::IsNotFound(map.status())) {
    return FoundFederation(self, Random64(), {}, /*is_registrar=*/false);
  }
  if (!map.ok()) return map;
  const proto::MapSite* known = FindSite(*map, self.name);
  const uint64_t replaces = known == nullptr ? 0 : known->incarnation();
  return Change(
      [&](const Map& now) { return federation::Join(now, self, replaces); });
}

absl::StatusOr<Map> Membership::Adopt() {
  if (MapIsAFile()) {
    return absl::FailedPreconditionError(
        "this federation's map is a file: there is no registrar");
  }
  AskNeighbours();
  const auto view = maps_.view();
  if (view == nullptr || view->self() == nullptr) {
    return absl::FailedPreconditionError("this site is in no federation");
  }
  uint64_t highest = view->map().epoch();
  for (const auto& [id, neighbour] : neighbours()) {
    highest = std::max(highest, neighbour->Look().epoch);
  }
  auto next = federation::Adopt(view->map(), settings_.self.name, highest);
  if (!next.ok()) return next;
  if (absl::Status s = maps_.Offer(*next); !s.ok()) return s;
  Note("registrar_adopted", {{"term", std::to_string(next->term())}});
  return next;
}

}  // namespace gannet::federation
