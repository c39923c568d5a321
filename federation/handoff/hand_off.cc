#include "federation/handoff/hand_off.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
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

bool IsOpen(const proto::RoundJournal& journal) {
  return journal.phase() != proto::NO_ROUND;
}

bool IsLeaving(const MapView& view) {
  return view.self()->state() == proto::MapSite::LEAVING;
}

}  // namespace

HandOff::HandOff(HandOffSettings settings, storage::CrawlDb& crawl_db)
    : settings_(std::move(settings)), crawl_db_(crawl_db) {}

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

bool HandOff::OldRoundsAreOver() const {
  const proto::RoundJournal journal = crawl_db_.round().journal();
  return journal.number() > last_old_round_ ||
         (journal.number() == last_old_round_ && !IsOpen(journal));
}

absl::Time HandOff::SteadyNow() const {
  return settings_.steady_now ? settings_.steady_now() : absl::Now();
}

absl::Status HandOff::Read(const std::function<absl::Status()>& work) {
  const absl::Time began = SteadyNow();
  absl::Status status = work();
  reading_ += SteadyNow() - began;
  return status;
}

bool HandOff::MayPassForWish() const {
  constexpr int64_t kShare = 10;  // At most a tenth of the time reads.
  const absl::Duration rest = std::clamp(
      kShare * reading_, settings_.between_walks,
      std::max(settings_.between_walks, settings_.most_between_walks));
  return SteadyNow() - pass_began_ >= rest;
}

bool HandOff::NeedsAnotherPass(const MapView& view) {
  const bool is_wished = walk_again_ && MayPassForWish();
  if (!is_wished && !MustPassAgain(view)) return false;
  ForgetWish();  // This pass serves the request.
  return true;
}

bool HandOff::MustPassAgain(const MapView& view) {
  if (crawl_db_.outgoing().pages_taken_back() != taken_back_) return true;
  // An update by an older map may have found pages of others since.
  if (!begun_after_old_rounds_) {
    const proto::RoundJournal journal = crawl_db_.round().journal();
    if (OldRoundsAreOver() ||
        (round_at_begin_ != 0 &&
         (journal.number() != round_at_begin_ || !IsOpen(journal)))) {
      return true;
    }
  }
  for (const auto& [site, urls] : crawl_db_.totals().outbox_urls) {
    if (!IsPeer(view, site)) return true;
  }
  return false;
}

absl::Status HandOff::BeginPass() {
  pass_began_ = SteadyNow();
  reading_ = absl::ZeroDuration();
  const proto::RoundJournal journal = crawl_db_.round().journal();
  taken_back_ = crawl_db_.outgoing().pages_taken_back();
  begun_after_old_rounds_ = OldRoundsAreOver();
  round_at_begin_ = IsOpen(journal) ? journal.number() : 0;
  auto destinations = crawl_db_.outgoing().Destinations();
  if (!destinations.ok()) {
    walk_again_ = true;  // The reasons of this pass were cleared.
    return destinations.status();
  }
  outboxes_ = *std::move(destinations);
  stage_ = Stage::kOutboxes;
  return absl::OkStatus();
}

absl::StatusOr<bool> HandOff::Step(const MapView& view, const PeerOf& peer_of) {
  if (view.self() == nullptr) return true;
  is_waiting_ = false;
  absl::Status status;
  if (std::string key = KeyOf(view); key != key_) {
    status = LoadNote(view);
    // One more round may have taken its map a moment ago.
    last_old_round_ = crawl_db_.round().journal().number() + 1;
    ForgetWish();
    if (status.ok()) status = BeginPass();
    if (status.ok()) key_ = std::move(key);
  } else if ((stage_ == Stage::kDone || stage_ == Stage::kComplete) &&
             NeedsAnotherPass(view)) {
    status = BeginPass();
  }
  if (!status.ok()) return status;
  switch (stage_) {
    case Stage::kOutboxes:
      status = Read([&] { return SortOutbox(view); });
      break;
    case Stage::kDeferred:
      status = Read([&] {
        return crawl_db_.waiting().SweepDeferred(OwnerFinder(view)).status();
      });
      // No later round would send the gains of a site that leaves.
      if (status.ok() && IsLeaving(view)) {
        status = crawl_db_.waiting().ReleaseGains().status();
      }
      if (status.ok()) status = BeginWalk(view);
      break;
    case Stage::kWaitForRound: {
      const proto::RoundJournal journal = crawl_db_.round().journal();
      is_waiting_ = IsOpen(journal) && journal.number() == waits_for_round_;
      if (!is_waiting_) status = BeginWalk(view);
      break;
    }
    case Stage::kWalk:
      status = Walk(view, peer_of);
      break;
    case Stage::kComplete:
      status = Complete(view, peer_of);
      break;
    case Stage::kDone:
      break;
  }
  if (!status.ok()) return status;
  storage::MutexLock lock(&mu_);
  progress_.is_done = stage_ == Stage::kDone;
  // All else is done; a requested walk waits until MayPassForWish().
  const bool waits_for_time = progress_.is_done && walk_again_;
  progress_.is_waiting = is_waiting_ || waits_for_time;
  return progress_.is_done && !waits_for_time;
}

absl::Status HandOff::SortOutbox(const MapView& view) {
  if (outboxes_.empty()) {
    stage_ = Stage::kDeferred;
    return absl::OkStatus();
  }
  const storage::SiteId site = outboxes_.back();
  if (!IsPeer(view, site)) {
    if (absl::Status s = crawl_db_.outgoing().ClosePair(site); !s.ok())
      return s;
  }
  const absl::Time now = settings_.now ? settings_.now() : absl::Now();
  auto moved = crawl_db_.waiting().Reroute(site, OwnerFinder(view), {now});
  if (!moved.ok()) return moved.status();
  outboxes_.pop_back();
  return absl::OkStatus();
}

absl::Status HandOff::BeginWalk(const MapView& view) {
  next_host_.clear();
  hosts_.clear();
  cursors_.clear();
  at_end_ = false;
  found_.clear();
  in_round_ = 0;
  const proto::RoundJournal journal = crawl_db_.round().journal();
  walk_round_ = IsOpen(journal) ? journal.number() : 0;
  in_old_round_ = walk_round_ != 0 && walk_round_ < last_old_round_;
  int64_t pages_left = 0;
  OwnerFinder owner(view);
  absl::Status status = Read([&] {
    return crawl_db_.records().ScanHosts(
        {},
        [&](std::string_view host, int64_t pages, const proto::HostRecord&) {
          if (owner(host).has_value()) pages_left += pages;
          return true;
        });
  });
  if (!status.ok()) return status;
  SetPagesLeft(pages_left);
  stage_ = Stage::kWalk;
  return absl::OkStatus();
}

absl::Status HandOff::Scan(const MapView& view) {
  OwnerFinder owner(view);
  size_t seen = 0, found = 0;
  at_end_ = true;
  return crawl_db_.records().ScanHosts(
      storage::HostKey{next_host_},
      [&](std::string_view host, int64_t, const proto::HostRecord&) {
        const std::optional<storage::SiteId> to = owner(host);
        if (to.has_value()) {
          auto& hosts = hosts_[*to];
          if (hosts.size() < kMostHostsThatWait) {
            hosts.push_back(storage::HostKey{std::string(host)});
          }
          found_.insert(*to);
          ++found;
        }
        // Behind the rows of this host, and before any other.
        next_host_ = std::string(host) + '\xff';
        at_end_ = ++seen < settings_.hosts_of_step && found < kHostsOfBatch;
        return at_end_;
      });
}

absl::StatusOr<std::optional<storage::Peer>> HandOff::Open(
    const MapView& view, storage::SiteId site, const PeerOf& peer_of) {
  if (!IsPeer(view, site)) return std::nullopt;
  const std::optional<storage::Peer> peer = peer_of(site);
  if (!peer.has_value()) return peer;
  if (absl::Status s = crawl_db_.outgoing().OpenPair(*peer); !s.ok()) return s;
  return peer;
}

absl::Status HandOff::Walk(const MapView& view, const PeerOf& peer_of) {
  if (hosts_.empty() && !at_end_) {
    absl::Status s = Read([&] { return Scan(view); });
    if (!s.ok()) return s;
  }
  if (hosts_.empty()) return at_end_ ? EndWalk() : absl::OkStatus();
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
    in_round_ += cut->in_round;
    hosts.erase(hosts.begin(),
                hosts.begin() + static_cast<ptrdiff_t>(cut->hosts_done));
    if (hosts.empty()) hosts_.erase(site);
    SetPagesLeft(progress().pages_left - cut->pages);
    return absl::OkStatus();
  }
  // None of the sites whose pages were found takes any now; later hosts may
  // belong to others.
  if (!at_end_) return Read([&] { return Scan(view); });
  return GoOnWithout(view, peer_of);
}

// A site that takes nothing may be away for a week, and no other site waits for
// it. Another walk finds out whether the other sites have everything.
absl::Status HandOff::GoOnWithout(const MapView& view, const PeerOf& peer_of) {
  if (NeedsAnotherPass(view)) return BeginPass();
  const bool some_are_through = found_.size() > hosts_.size();
  if (!some_are_through && !in_old_round_) return Complete(view, peer_of);
  const proto::RoundJournal journal = crawl_db_.round().journal();
  is_waiting_ = (in_round_ > 0 || in_old_round_) && IsOpen(journal) &&
                journal.number() == walk_round_;
  return is_waiting_ ? absl::OkStatus() : BeginWalk(view);
}

// If pages were found, walks again: at once, or after the open round that holds
// some of them.
absl::Status HandOff::EndWalk() {
  if (found_.empty() && !in_old_round_) {
    stage_ = Stage::kComplete;
    return absl::OkStatus();
  }
  stage_ = Stage::kWaitForRound;
  waits_for_round_ = in_round_ > 0 || found_.empty() ? walk_round_ : 0;
  return absl::OkStatus();
}

absl::Status HandOff::Complete(const MapView& view, const PeerOf& peer_of) {
  const uint64_t placed = PlacedStamp(view.map());
  bool is_over = hosts_.empty();
  if (IsHandingOff(view.map())) {
    // Where one of the two began another life, what was on its way comes back.
    for (const proto::MapSite* other : view.peers()) {
      auto peer = Open(view, storage::SiteId{other->id()}, peer_of);
      if (!peer.ok()) return peer.status();
    }
    if (crawl_db_.outgoing().pages_taken_back() != taken_back_)
      return BeginPass();
    for (const proto::MapSite* other : view.peers()) {
      const storage::SiteId site{other->id()};
      if (hosts_.contains(site)) continue;
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
  stage_ = Stage::kDone;
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
  return !IsOpen(crawl_db_.round().journal()) &&
         crawl_db_.totals().outbox_urls.empty();
}

}  // namespace gannet::federation
