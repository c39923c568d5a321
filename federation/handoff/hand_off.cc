#include "federation/handoff/hand_off.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "federation/ownership/owner_finder.h"

namespace gannet::federation {
namespace {

// A row of the crawl DB: federation and stamp. Stored on disk.
constexpr char kNote[] = "handed_off";
constexpr size_t kHostsOfBatch = 256;
// Remembered of sites that take nothing now; the next walk finds the others.
constexpr size_t kMostHostsThatWait = 50'000;

bool IsPeer(const MapView& view, storage::SiteId site) {
  return std::any_of(view.peers().begin(), view.peers().end(),
                     [&](const proto::MapSite* peer) {
                       return storage::SiteId{peer->id()} == site;
                     });
}

bool IsLeaving(const MapView& view) {
  return view.self()->state() == proto::MapSite::LEAVING;
}

}  // namespace

HandOff::HandOff(HandOffSettings settings, storage::CrawlDb& crawl_db,
                 storage::Clock& clock)
    : settings_(std::move(settings)), crawl_db_(crawl_db), clock_(clock) {}

HandOff::Progress HandOff::progress() const {
  storage::MutexLock lock(&mu_);
  Progress progress = progress_;
  if (walk_again_) progress.is_done = false;
  return progress;
}

void HandOff::SetPagesLeft(int64_t pages) {
  storage::MutexLock lock(&mu_);
  progress_.pages_left = std::max<int64_t>(pages, 0);
}

// Called before a walk begins, so that progress() cannot say "done" in between.
void HandOff::ForgetWish() {
  storage::MutexLock lock(&mu_);
  progress_.is_done = false;
  walk_again_ = false;
}

std::string HandOff::KeyOf(const MapView& view) {
  std::string key =
      fmt::format("{} {} {}", view.map().federation(), PlacedStamp(view.map()),
                  IsHandingOff(view.map()));
  // With another public suffix list some hosts belong to other channels.
  key += " " + view.map().rules().public_suffixes();
  for (const proto::MapSite* peer : view.peers()) {
    key += fmt::format(" {}:{}", peer->id(), peer->incarnation());
  }
  return key;
}

absl::Status HandOff::LoadNote(const MapView& view) {
  auto note = crawl_db_.records().GetNote(kNote);
  if (absl::IsNotFound(note.status())) return absl::OkStatus();
  if (!note.ok()) return note.status();
  storage::MutexLock lock(&mu_);
  if (*note ==
      fmt::format("{} {}", view.map().federation(), PlacedStamp(view.map()))) {
    progress_.handed_off = PlacedStamp(view.map());
  }
  return absl::OkStatus();
}

HandOffPlan::Round HandOff::LookAtRound() const {
  const proto::RoundJournal journal = crawl_db_.round().journal();
  return {.number = journal.number(),
          .is_open = journal.phase() != proto::NO_ROUND};
}

HandOffPlan::Facts HandOff::LookAround(const MapView& view) const {
  HandOffPlan::Facts facts;
  facts.round = LookAtRound();
  facts.taken_back = crawl_db_.outgoing().pages_taken_back();
  facts.is_walk_due = walk_again_ && MayWalkAgain();
  for (const auto& [site, urls] : crawl_db_.totals().outbox_urls) {
    if (!IsPeer(view, site)) facts.has_stray_outbox = true;
  }
  return facts;
}

bool HandOff::MayWalkAgain() const {
  constexpr int64_t kShare = 10;  // At most a tenth of the time reads.
  const absl::Duration rest = std::clamp(
      kShare * reading_, settings_.between_walks,
      std::max(settings_.between_walks, settings_.most_between_walks));
  return clock_.SteadyNow() - pass_began_ >= rest;
}

absl::Status HandOff::Read(const std::function<absl::Status()>& work) {
  const absl::Time began = clock_.SteadyNow();
  absl::Status status = work();
  reading_ += clock_.SteadyNow() - began;
  return status;
}

absl::StatusOr<bool> HandOff::Step(const MapView& view, const PeerOf& peer_of) {
  if (view.self() == nullptr) return true;
  if (std::string key = KeyOf(view); key != key_) {
    if (absl::Status s = LoadNote(view); !s.ok()) return s;
    plan_.OnNewMap(LookAtRound().number);
    key_ = std::move(key);
  }
  is_waiting_ = false;
  absl::Status did = Do(plan_.Next(LookAround(view)), view, peer_of);
  if (!did.ok()) return did;
  storage::MutexLock lock(&mu_);
  progress_.is_done = plan_.is_done();
  // All else is done; a requested walk waits until MayWalkAgain().
  const bool waits_for_time = progress_.is_done && walk_again_;
  progress_.is_waiting = is_waiting_ || waits_for_time;
  return progress_.is_done && !waits_for_time;
}

absl::Status HandOff::Do(HandOffPlan::Action action, const MapView& view,
                         const PeerOf& peer_of) {
  using Action = HandOffPlan::Action;
  switch (action) {
    case Action::kBeginPass:
      return BeginPass(view);
    case Action::kSortOutboxes:
      return Read([&] { return SortOutbox(view); });
    case Action::kSweepDeferred:
      return Read([&] { return SweepDeferred(view); });
    case Action::kBeginWalk:
      return Read([&] { return BeginWalk(view); });
    case Action::kScan:
      return Read([&] { return Scan(view); });
    case Action::kCut: {
      const absl::StatusOr<bool> cut = Cut(view, peer_of);
      if (!cut.ok() || *cut) return cut.status();
      return Do(plan_.NextIfNoneTakes(LookAround(view)), view, peer_of);
    }
    case Action::kWaitForRound:
      is_waiting_ = true;
      return absl::OkStatus();
    case Action::kTellComplete:
      return TellComplete(view, peer_of);
    case Action::kNothing:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status HandOff::BeginPass(const MapView& view) {
  ForgetWish();  // This pass serves the request.
  pass_began_ = clock_.SteadyNow();
  reading_ = absl::ZeroDuration();
  const HandOffPlan::Facts facts = LookAround(view);
  auto destinations = crawl_db_.outgoing().Destinations();
  if (!destinations.ok()) {
    walk_again_ = true;
    return destinations.status();
  }
  outboxes_ = *std::move(destinations);
  plan_.OnPassBegun(facts);
  return absl::OkStatus();
}

absl::Status HandOff::SortOutbox(const MapView& view) {
  if (outboxes_.empty()) {
    plan_.OnOutboxesSorted();
    return absl::OkStatus();
  }
  const storage::SiteId site = outboxes_.back();
  if (!IsPeer(view, site)) {
    if (absl::Status s = crawl_db_.outgoing().ClosePair(site); !s.ok())
      return s;
  }
  auto moved =
      crawl_db_.waiting().Reroute(site, OwnerFinder(view), {clock_.Now()});
  if (!moved.ok()) return moved.status();
  outboxes_.pop_back();
  return absl::OkStatus();
}

absl::Status HandOff::SweepDeferred(const MapView& view) {
  absl::Status status =
      crawl_db_.waiting().SweepDeferred(OwnerFinder(view)).status();
  // No later round would send the gains of a site that leaves.
  if (status.ok() && IsLeaving(view)) {
    status = crawl_db_.waiting().ReleaseGains().status();
  }
  if (status.ok()) plan_.OnDeferredSwept();
  return status;
}

absl::Status HandOff::BeginWalk(const MapView& view) {
  const HandOffPlan::Round round = LookAtRound();
  int64_t pages_left = 0;
  OwnerFinder owner(view);
  absl::Status status = crawl_db_.records().ScanHosts(
      {}, [&](std::string_view host, int64_t pages, const proto::HostRecord&) {
        if (owner(host).has_value()) pages_left += pages;
        return true;
      });
  if (!status.ok()) return status;
  SetPagesLeft(pages_left);
  next_host_.clear();
  hosts_.clear();
  cursors_.clear();
  plan_.OnWalkBegun(round);
  return absl::OkStatus();
}

absl::Status HandOff::Scan(const MapView& view) {
  OwnerFinder owner(view);
  size_t seen = 0, found = 0;
  bool at_end = true;
  std::set<storage::SiteId> owners;
  absl::Status status = crawl_db_.records().ScanHosts(
      storage::HostKey{next_host_},
      [&](std::string_view host, int64_t, const proto::HostRecord&) {
        const std::optional<storage::SiteId> to = owner(host);
        if (to.has_value()) {
          auto& hosts = hosts_[*to];
          if (hosts.size() < kMostHostsThatWait) {
            hosts.push_back(storage::HostKey{std::string(host)});
          }
          owners.insert(*to);
          ++found;
        }
        // Behind the rows of this host, and before any other.
        next_host_ = std::string(host) + '\xff';
        at_end = ++seen < settings_.hosts_of_step && found < kHostsOfBatch;
        return at_end;
      });
  // What a failure cut off is scanned next.
  plan_.OnScanned(owners, at_end && status.ok());
  return status;
}

absl::StatusOr<std::optional<storage::Peer>> HandOff::Open(
    const MapView& view, storage::SiteId site, const PeerOf& peer_of) {
  if (!IsPeer(view, site)) return std::nullopt;
  const std::optional<storage::Peer> peer = peer_of(site);
  if (!peer.has_value()) return peer;
  if (absl::Status s = crawl_db_.outgoing().OpenPair(*peer); !s.ok()) return s;
  return peer;
}

absl::StatusOr<bool> HandOff::Cut(const MapView& view, const PeerOf& peer_of) {
  for (auto& [site, hosts] : hosts_) {
    auto peer = Open(view, site, peer_of);
    if (!peer.ok()) return peer.status();
    if (!peer->has_value()) continue;
    auto pair = crawl_db_.outgoing().sent_pair(site);
    if (!pair.ok()) return pair.status();
    if (pair->cut() - pair->acknowledged() >= settings_.most_unacknowledged) {
      continue;
    }
    auto cut = crawl_db_.moves().CutPages(
        **peer,
        absl::MakeConstSpan(hosts).first(std::min(hosts.size(), kHostsOfBatch)),
        settings_.pages_of_batch, settings_.bytes_of_batch, &cursors_[site]);
    if (!cut.ok()) return cut.status();
    hosts.erase(hosts.begin(),
                hosts.begin() + static_cast<ptrdiff_t>(cut->hosts_done));
    const bool has_more = !hosts.empty();
    plan_.OnCut(site, cut->in_round, has_more);
    if (!has_more) hosts_.erase(site);
    SetPagesLeft(progress().pages_left - cut->pages);
    return true;
  }
  return false;
}

absl::Status HandOff::TellComplete(const MapView& view, const PeerOf& peer_of) {
  const uint64_t placed = PlacedStamp(view.map());
  bool is_over = plan_.left().empty();
  if (IsHandingOff(view.map())) {
    // Where one of the two began another life, what was on its way comes back.
    for (const proto::MapSite* other : view.peers()) {
      auto peer = Open(view, storage::SiteId{other->id()}, peer_of);
      if (!peer.ok()) return peer.status();
    }
    if (plan_.HavePagesComeBack(crawl_db_.outgoing().pages_taken_back())) {
      return BeginPass(view);
    }
    for (const proto::MapSite* other : view.peers()) {
      const storage::SiteId site{other->id()};
      if (plan_.left().contains(site)) continue;
      auto pair = crawl_db_.outgoing().sent_pair(site);
      if (!pair.ok()) return pair.status();
      if (pair->completed_for() < placed ||
          pair->their_incarnation() != other->incarnation()) {
        auto peer = Open(view, site, peer_of);
        if (!peer.ok()) return peer.status();
        is_over = false;
        if (!peer->has_value()) continue;
        if (absl::Status s = crawl_db_.moves().CutComplete(**peer, placed);
            !s.ok()) {
          return s;
        }
        continue;
      }
      if (pair->acknowledged() < pair->completed_at()) is_over = false;
    }
  }
  if (is_over && IsLeaving(view)) {
    const absl::StatusOr<bool> may_be_gone = MayBeGone(view);
    if (!may_be_gone.ok()) return may_be_gone.status();
    is_over = *may_be_gone;
  }
  if (!is_over) {
    is_waiting_ = true;
    return absl::OkStatus();
  }
  if (progress().handed_off != placed) {
    absl::Status s = crawl_db_.records().PutNote(
        kNote, fmt::format("{} {}", view.map().federation(), placed));
    if (!s.ok()) return s;
  }
  plan_.OnComplete();
  storage::MutexLock lock(&mu_);
  progress_.handed_off = placed;
  progress_.pages_left = 0;
  return absl::OkStatus();
}

// Its outboxes must be empty, because no other site has their URLs. What the
// others sent it before they knew that it leaves has come before their
// "complete", and is forwarded through its outboxes.
absl::StatusOr<bool> HandOff::MayBeGone(const MapView& view) {
  for (const proto::MapSite* other : view.peers()) {
    const absl::StatusOr<uint64_t> completed =
        crawl_db_.incoming().completed_for(
            {storage::SiteId{other->id()}, other->incarnation()});
    if (!completed.ok()) return completed.status();
    if (*completed < PlacedStamp(view.map())) return false;
  }
  return !LookAtRound().is_open && crawl_db_.totals().outbox_urls.empty();
}

}  // namespace gannet::federation
