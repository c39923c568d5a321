#include "federation/member/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "federation/exchange/greeting.h"
#include "federation/handoff/fence.h"
#include "federation/map/file_map.h"
#include "federation/member/random64.h"

namespace gannet::federation {
namespace {

// A note in the crawl DB. On disk: never change it.
constexpr char kMapNote[] = "map";

BatchReceiverSettings ReceiverSettings(const MembershipSettings& settings) {
  BatchReceiverSettings receiver = settings.receiver;
  receiver.rules = settings.self.rules;
  return receiver;
}

// Whether another site is back that had been removed. Only the map of another
// term can do that: its registrar did not know of the removal.
bool UndoesARemoval(const Map& before, const Map& after,
                    std::string_view self) {
  for (const proto::MapSite& site : after.sites()) {
    if (IsActive(site) && site.name() != self &&
        site.id() <= before.last_site_id() &&
        FindSite(before, site.id()) == nullptr) {
      return true;
    }
  }
  return false;
}

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
      losses_(crawl_db),
      maps_(settings_.self.name,
            [this](const Map& map) { return KeepMap(map); }),
      receiver_(ReceiverSettings(settings_), crawl_db, maps_, canonicaliser,
                filter),
      hand_off_({.clock = &storage::SystemClock()}, crawl_db),
      registrar_(maps_, {.client_of =
                             [this](const proto::MapSite& site) {
                               const auto neighbour = NeighbourOf(site.id());
                               return neighbour == nullptr
                                          ? nullptr
                                          : neighbour->shared_client();
                             },
                         .greeting = [this] { return Greeting(); },
                         .incarnation = [this] { return incarnation_.load(); },
                         .ask_neighbours = [this] { AskNeighbours(); }}) {
  if (MapIsAFile()) file_ = std::make_unique<FileMap>(settings_.map_file);
}

absl::StatusOr<std::unique_ptr<Membership>> Membership::Start(
    MembershipSettings settings, storage::CrawlDb& crawl_db,
    const storage::Canonicaliser& canonicaliser,
    const storage::UrlFilter& filter) {
  const auto identity = crawl_db.records().identity();
  if (!identity.ok()) return identity.status();
  std::unique_ptr<Membership> made(new Membership(std::move(settings), crawl_db,
                                                  identity->incarnation(),
                                                  canonicaliser, filter));
  const absl::StatusOr<std::string> map = crawl_db.records().GetNote(kMapNote);
  if (map.ok()) {
    if (absl::Status s = made->maps_.Load(*map); !s.ok()) return s;
  } else if (!absl::IsNotFound(map.status())) {
    return map.status();
  }
  if (absl::Status s = made->losses_.Load(); !s.ok()) return s;
  // A map of a file is read before anything is done by an older one.
  if (made->MapIsAFile()) made->ReadFile();
  // A registrar asks its neighbours before it takes a change, and a change may
  // come at once.
  if (const auto view = made->maps_.view()) made->MeetNeighbours(*view);
  auto server = PeerServer::Start(made->settings_.server, *made);
  if (!server.ok()) return server.status();
  made->server_ = *std::move(server);
  made->watch_ = std::thread([member = made.get()] { member->Watch(); });
  made->mover_ = std::thread([member = made.get()] { member->Move(); });
  return made;
}

absl::Status Membership::KeepMap(const Map& map) {
  if (const auto before = maps_.view()) {
    absl::Status s = losses_.Add(before->map(), map, settings_.self.name);
    if (!s.ok()) return s;
    // The batches for that site were taken back and their numbers forgotten,
    // though it may have received some of them. So this site takes a new
    // incarnation, for which numbers begin anew.
    if (UndoesARemoval(before->map(), map, settings_.self.name)) {
      if (s = BeReborn(); !s.ok()) return s;
      Note("removal_undone", {{"epoch", std::to_string(map.epoch())}});
    }
  }
  return crawl_db_.records().PutNote(kMapNote, map.SerializeAsString());
}

Membership::~Membership() {
  {
    storage::MutexLock lock(&mu_);
    is_ending_ = true;
    for (const auto& door : doors_) door->Cancel();
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
  condition->set_handed_off(moving.handed_off);
  condition->set_pages_to_hand_off(moving.pages_left);
  if (!losses_.Get().empty()) condition->set_is_idle(false);
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
  // A site that was restored cannot greet until it has joined again, so it has
  // heard of no neighbour; and its map may be old.
  const bool greets = Greeting().ok();
  for (const auto& [site, neighbour] : neighbours()) {
    const NeighbourSnapshot look = neighbour->Snapshot();
    const bool is_new = settings_.steady_now() - started_ < absl::Seconds(10);
    if (greets && !look.is_alive && !is_new) continue;
    questions.emplace_back([greets, neighbour = neighbour] {
      (void)(greets ? neighbour->Beat() : neighbour->CatchUp());
    });
  }
  for (std::thread& question : questions) question.join();
}

absl::Status Membership::MayBeginRound() {
  for (const auto& [site, neighbour] : neighbours()) {
    if (neighbour->Snapshot().takes_us_for_a_copy) {
      return absl::FailedPreconditionError(
          fmt::format("'{}' takes this site for a copy: another process speaks "
                      "for it",
                      neighbour->site().name()));
    }
  }
  const auto view = maps_.view();
  if (view == nullptr || view->self() == nullptr ||
      view->self()->incarnation() != incarnation_) {
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
  return federation::MayCrawl(view, crawl_db_);
}

BatchBytes Membership::bytes_sent() {
  BatchBytes sum;
  for (const auto& [site, neighbour] : neighbours()) {
    const BatchBytes sent = neighbour->Snapshot().sent.bytes;
    sum.urls += sent.urls;
    sum.pages += sent.pages;
  }
  return sum;
}

FederationSnapshot Membership::Snapshot() {
  FederationSnapshot look;
  look.view = maps_.view();
  look.received = receiver_.counts();
  look.refused_calls = refused_;
  look.cut_streams = cut_streams_;
  if (look.view != nullptr) {
    look.self = OwnCondition();
    const uint32_t registrar = look.view->map().registrar();
    look.registrar_is_reachable =
        look.view->self() != nullptr && registrar == look.view->self()->id();
    for (const auto& [id, neighbour] : neighbours()) {
      look.neighbours[id] = neighbour->Snapshot();
      if (id == registrar) {
        look.registrar_is_reachable = look.neighbours[id].answers;
      }
    }
  }
  {
    storage::MutexLock lock(&mu_);
    look.is_quiet = is_quiet_ && look.view == quiet_view_;
    look.error = error_;
  }
  return look;
}

FederationSnapshot Membership::FreshSnapshot() {
  FederationSnapshot look = Snapshot();
  if (!look.is_quiet) return look;
  const Map& map = look.view->map();
  const Conditions first = AskConditions();
  // One look that is not quiet is enough, also of a site that does not answer.
  look.is_quiet =
      IsQuiet(map, first, first) && IsQuiet(map, first, AskConditions());
  return look;
}

// --- What administrators ask for
// -------------------------------------------------

absl::StatusOr<Map> Membership::Change(const MapChange& change) {
  if (!MapIsAFile()) return ChangeMap(registrar_, change);
  absl::StatusOr<Map> map = file_->Get();
  if (!map.ok()) return map;
  if (federation::IsHandingOff(*map)) {
    // With a map that is a file only this change can end the hand-off.
    const auto view = maps_.view();
    if (view != nullptr && AllHaveHandedOff(*view)) map = FinishHandOff(*map);
  }
  if (!map.ok()) return map;
  return change(*map);
}

absl::StatusOr<Map> Membership::MapWithSelf() {
  if (const auto view = maps_.view();
      view != nullptr && view->self() == nullptr) {
    if (absl::Status s = BeReborn(); !s.ok()) return s;
  }
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
  if (view->self()->incarnation() != incarnation_) {
    return absl::FailedPreconditionError(
        "this site was restored, and has not joined the federation again: its "
        "map may be an old one. Let another site adopt the role; then this one "
        "joins by itself");
  }
  uint64_t highest = view->map().epoch();
  for (const auto& [id, neighbour] : neighbours()) {
    const uint64_t epoch = neighbour->Snapshot().epoch;
    if (epoch < kLastEpoch) highest = std::max(highest, epoch);
  }
  auto next = federation::Adopt(view->map(), settings_.self.name, highest);
  if (!next.ok()) return next;
  if (absl::Status s = maps_.Offer(*next); !s.ok()) return s;
  Note("registrar_adopted",
       {{"term", std::to_string(TermNumber(next->term()))}});
  return next;
}

}  // namespace gannet::federation
