// Membership's two threads: the mover hands over what others own, the watch
// does what the map asks for.
#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>

#include "federation/exchange/greeting.h"
#include "federation/member/membership.h"
#include "federation/member/random64.h"

namespace gannet::federation {
namespace {

// A note in the crawl DB. On disk: never change it.
constexpr char kBlockedNote[] = "blocked_by_map";

constexpr absl::Duration kWatchEvery = absl::Milliseconds(300);
// Whether another site would give the same answer.
bool IsRefusal(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsAlreadyExists(status) ||
         absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
}

std::string Epoch(const Map& map) { return std::to_string(map.epoch()); }

}  // namespace

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
    if (!is_busy) clock_.WaitFor(changed_, &mu_, kMoveEvery);
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
      FoundIfAlone();
    }
    JoinIfNeeded();
    const std::shared_ptr<const MapView> view = maps_.view();
    if (view != nullptr) {
      if (view != applied_) {
        Note("map_taken",
             {{"epoch", Epoch(view->map())},
              {"term", std::to_string(TermNumber(view->map().term()))}});
        MeetNeighbours(*view);
        if (settings_.on_map) settings_.on_map(*this);
        applied_ = view;
      }
      if (view != blocked_by_ && ApplyBlocks(*view)) blocked_by_ = view;
      FinishHandOffIfDone(*view);
      LookForQuiet(*view);
    }
    {
      storage::MutexLock lock(&mu_);
      if (is_ending_) return;
    }
    if (view == nullptr) {
      storage::MutexLock lock(&mu_);
      if (!is_ending_) clock_.WaitFor(changed_, &mu_, kWatchEvery);
    } else {
      (void)maps_.Await(view, kWatchEvery);
    }
  }
}

void Membership::ReadFile() {
  absl::StatusOr<Map> map = file_->Get();
  absl::Status status = map.status();
  if (status.ok()) status = maps_.Offer(*map);
  if (!status.ok()) {
    SetError(std::string(status.message()));
    return;
  }
  const auto view = maps_.view();
  if (view->self() == nullptr) {
    SetError(WhyNotIn(status));
  } else if (view->self()->incarnation() != incarnation_) {
    SetError(
        "the map knows another incarnation of this site: 'gannet federation "
        "join' here prints the map with this one");
  } else {
    is_reborn_ = false;
    SetError(RulesProblem(*view));
  }
}

// They may have changed since it joined: by its settings, or with a new list of
// public suffixes.
std::string Membership::RulesProblem(const MapView& view) const {
  const absl::Status status =
      CheckRules(view.map().rules(), settings_.self.rules);
  if (status.ok()) return "";
  return std::string(status.message()) +
         "; it begins no round until they are the same";
}

// A site that has no map, and no site to ask for one, founds the federation.
void Membership::FoundIfAlone() {
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
  if (MapIsAFile()) return;
  const auto view = maps_.view();
  if (view != nullptr && view->self() != nullptr &&
      view->self()->incarnation() == incarnation_ &&
      view->self()->address() == settings_.self.address) {
    SetError(RulesProblem(*view));
    is_reborn_ = false;
    join_refused_.Reset();
    join_unheard_.Reset();
    next_join_ = absl::InfinitePast();
    return;
  }
  if (clock_.SteadyNow() < next_join_) return;
  const absl::Status status = JoinNow();
  SetError(status.ok() ? "" : WhyNotIn(status));
  next_join_ = clock_.SteadyNow() +
               (IsRefusal(status) ? join_refused_ : join_unheard_).Next();
}

// The text must be the same each time, so that it is logged once.
std::string Membership::WhyNotIn(const absl::Status& refused) const {
  const std::string why(refused.message());
  const auto view = maps_.view();
  if (view == nullptr || view->self() != nullptr) return why;
  if (FindSite(view->map(), settings_.self.name) != nullptr) {
    return MapIsAFile() ? "this site is invited: 'gannet federation join' here "
                          "prints the map with this site in it"
                        : why;
  }
  std::string text = fmt::format(
      "this site is not in the map of epoch {}: it was removed, or it left. If "
      "it is to stay out, stop it. If it is to come back: 'gannet federation "
      "invite {}' at a site of the federation, then ",
      view->map().epoch(), settings_.self.name);
  text += MapIsAFile() ? "'gannet federation join' here, which prints the map "
                         "with this site in it"
                       : fmt::format(
                             "it joins by itself within {}; at once "
                             "with 'gannet federation join' here",
                             absl::FormatDuration(kLongestRefused));
  // The text above already says that it is not invited.
  const bool is_news = !refused.ok() && !absl::IsPermissionDenied(refused);
  return is_news ? text + " (now: " + why + ")" : text;
}

absl::Status Membership::BeReborn() {
  // The watch and an operator's `join` may both come here; the second must use
  // the incarnation that the first has made.
  storage::MutexLock one_at_a_time(&reborn_mu_);
  if (is_reborn_) return absl::OkStatus();
  if (absl::Status s = crawl_db_.incoming().Reincarnate(); !s.ok()) return s;
  const auto identity = crawl_db_.records().identity();
  if (!identity.ok()) return identity.status();
  incarnation_ = identity->incarnation();
  is_reborn_ = true;
  return absl::OkStatus();
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
    } else if (absl::Status s = BeReborn(); !s.ok()) {
      return s;
    }
  }
  proto::MapSite& site = *request.mutable_site();
  site.set_name(settings_.self.name);
  site.set_incarnation(incarnation_);
  site.set_address(settings_.self.address);
  *site.mutable_location() = settings_.self.location;
  site.set_capacity(settings_.self.capacity);

  // The site that it is told to ask, else the sites of its last map.
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
    const auto door = std::make_shared<PeerClient>(
        settings_.connect(address, name), name, address);
    {
      storage::MutexLock lock(&mu_);
      if (is_ending_) return absl::CancelledError("this site stops");
      doors_.insert(door);
    }
    peers::MapReply reply;
    status = door->Join(request, reply);
    {
      storage::MutexLock lock(&mu_);
      doors_.erase(door);
    }
    if (IsRefusal(status)) return status;
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
    // A site that was removed goes on asking: it may be invited again.
    if (known != nullptr && !gone.contains(site->id())) continue;
    come[site->id()] = std::make_shared<Neighbour>(
        NeighbourParts{.crawl_db = crawl_db_,
                       .maps = maps_,
                       .clock = clock_,
                       .greeting = [this] { return Greeting(); },
                       .condition = [this] { return OwnCondition(); },
                       .pump = pump,
                       .beat_every = settings_.beat_every,
                       .away_after = settings_.away_after},
        *site,
        std::make_shared<PeerClient>(
            settings_.connect(site->address(), site->name()), site->name(),
            site->address()));
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

bool Membership::ApplyBlocks(const MapView& view) {
  std::set<std::string> applied;
  if (const auto note = crawl_db_.records().GetNote(kBlockedNote); note.ok()) {
    proto::FederationMap before;  // Its field `blocked` only.
    if (before.ParseFromString(*note)) {
      applied.insert(before.blocked().begin(), before.blocked().end());
    }
  }
  const std::set<std::string> wanted(view.map().blocked().begin(),
                                     view.map().blocked().end());
  if (applied == wanted) return true;
  absl::Status status;
  for (const std::string& domain : wanted) {
    if (applied.contains(domain)) continue;
    if (const auto pages = crawl_db_.blocks().Block(domain); !pages.ok()) {
      status = pages.status();
    }
  }
  for (const std::string& domain : applied) {
    if (wanted.contains(domain)) continue;
    if (const auto pages = crawl_db_.blocks().Unblock(domain);
        !pages.ok() && !absl::IsNotFound(pages.status())) {
      status = pages.status();
    }
  }
  proto::FederationMap note;
  *note.mutable_blocked() = view.map().blocked();
  if (status.ok()) {
    status =
        crawl_db_.records().PutNote(kBlockedNote, note.SerializeAsString());
  }
  if (!status.ok()) {
    Note("block_failed", {{"error", std::string(status.message())}});
  }
  return status.ok();
}

bool Membership::AllHaveHandedOff(const MapView& view) {
  const uint64_t placed = PlacedStamp(view.map());
  if (OwnCondition().handed_off() < placed) return false;
  for (const proto::MapSite* site : view.peers()) {
    const auto neighbour = NeighbourOf(site->id());
    if (neighbour == nullptr) return false;
    const NeighbourSnapshot look = neighbour->Snapshot();
    if (!look.condition.has_value() || look.condition->handed_off() < placed) {
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
    const NeighbourSnapshot seen = neighbour->Snapshot();
    if (!seen.is_alive || seen.epoch != view.map().epoch()) {
      storage::MutexLock lock(&mu_);
      is_quiet_ = false;
      return;
    }
    // It has not answered since the last look: try again a little later.
    if (seen.condition_asked <= last_look_ended_) return;
    look[site->id()] = *seen.condition;
  }
  if (view.self() == nullptr) return;
  look[view.self()->id()] = OwnCondition();
  const bool is_quiet = IsQuiet(view.map(), last_look_, look);
  last_look_ = std::move(look);
  last_look_ended_ = clock_.SteadyNow();
  storage::MutexLock lock(&mu_);
  if (is_quiet && !is_quiet_) {
    quiet_view_ = maps_.view();
  }
  is_quiet_ = is_quiet;
}

}  // namespace gannet::federation
