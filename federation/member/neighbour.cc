#include "federation/member/neighbour.h"

#include <algorithm>
#include <utility>

#include "federation/exchange/greeting.h"
#include "federation/member/back_off.h"

namespace gannet::federation {
namespace {

constexpr absl::Duration kFirstRest = absl::Milliseconds(200);
// Also how long a receiver whose disk was full waits for the next batch when
// there is room again.
constexpr absl::Duration kLongestRest = absl::Seconds(5);

}  // namespace

Neighbour::Neighbour(const OwnSite& own,
                     std::function<peers::Condition()> condition,
                     const NeighbourSettings& settings,
                     const proto::MapSite& site,
                     std::shared_ptr<PeerClient> client)
    : own_(own),
      own_condition_(std::move(condition)),
      settings_(settings),
      site_(site),
      client_(std::move(client)),
      pump_(settings_.pump, own_.crawl_db, own_.maps,
            storage::SiteId{site.id()}) {
  beat_thread_ = std::thread([this] { BeatLoop(); });
  pump_thread_ = std::thread([this] { PumpLoop(); });
}

Neighbour::~Neighbour() {
  {
    storage::MutexLock lock(&mu_);
    stop_ = true;
    changed_.SignalAll();
  }
  own_.maps.Wake();
  client_->Cancel();
  beat_thread_.join();
  pump_thread_.join();
}

bool Neighbour::Rest(absl::Duration time, bool is_beat) {
  const absl::Time until = own_.clock.SteadyNow() + time;
  storage::MutexLock lock(&mu_);
  while (!stop_ && !(is_beat && has_news_) && own_.clock.SteadyNow() < until) {
    own_.clock.WaitUntil(changed_, &mu_, until);
  }
  if (is_beat) has_news_ = false;
  return stop_;
}

void Neighbour::SetError(std::string Neighbour::*which,
                         const absl::Status& status) {
  storage::MutexLock lock(&mu_);
  this->*which = std::string(status.message());
}

void Neighbour::BeatLoop() {
  do {
    (void)Beat();
  } while (!Rest(settings_.beat_every, /*is_beat=*/true));
}

absl::Status Neighbour::Beat() {
  auto greeting = own_.Greeting();
  if (!greeting.ok()) {
    SetError(&Neighbour::beat_error_, greeting.status());
    return greeting.status();
  }
  peers::BeatRequest request;
  *request.mutable_greeting() = *std::move(greeting);
  *request.mutable_condition() = own_condition_();
  peers::BeatReply reply;
  const absl::Time asked = own_.clock.SteadyNow();
  absl::Status status = client_->Beat(request, reply, settings_.beat_at_most);
  if (status.ok()) status = CheckReply(request.greeting(), reply.greeting());
  {
    storage::MutexLock lock(&mu_);
    answers_ = status.ok();
    if (!absl::IsUnavailable(status)) {
      taken_for_a_copy_ =
          absl::IsAlreadyExists(status) ? asked : absl::InfinitePast();
    }
  }
  if (!status.ok()) {
    SetError(&Neighbour::beat_error_, status);
    // It does not know this site, or no longer: its map says why.
    if (absl::IsPermissionDenied(status)) (void)CatchUp();
    return status;
  }
  const absl::Time now = own_.clock.SteadyNow();
  bool is_newer = false;
  {
    storage::MutexLock lock(&mu_);
    heard_ = now;
    beat_error_.clear();
    term_ = reply.greeting().term();
    epoch_ = reply.greeting().epoch();
    // Of an incarnation that the map does not know yet, nothing else is used.
    if (reply.greeting().incarnation() == site_.incarnation()) {
      condition_ = reply.condition();
      condition_asked_ = asked;
    }
    if (round_trips_.size() < kRoundTrips) round_trips_.emplace_back();
    round_trips_[next_round_trip_++ % kRoundTrips] = now - asked;
    const auto view = own_.maps.view();
    is_newer = view == nullptr || IsNewer(term_, epoch_, view->map());
  }
  return is_newer ? CatchUp() : absl::OkStatus();
}

// Another site may have that address by now.
absl::Status Neighbour::CheckReply(const peers::Greeting& asked,
                                   const peers::Greeting& reply) const {
  if (reply.federation() == asked.federation() && reply.site() == site_.id()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError("another site answers at '" +
                                       site_.address() + "'");
}

absl::Status Neighbour::CatchUp() {
  peers::GetMapRequest request;
  if (auto greeting = own_.Greeting(); greeting.ok()) {
    *request.mutable_greeting() = *std::move(greeting);
  }
  peers::MapReply reply;
  absl::Status status = client_->GetMap(request, reply);
  if (status.ok()) status = own_.maps.Offer(reply.map());
  if (!status.ok()) SetError(&Neighbour::beat_error_, status);
  return status;
}

void Neighbour::PumpLoop() {
  BackOff rest(kFirstRest, kLongestRest);
  while (!stop_) {
    absl::Status status;
    const auto view = own_.maps.view();
    if (view == nullptr || view->self() == nullptr) {
      status = absl::FailedPreconditionError("this site is not in the map");
    } else {
      const std::unique_ptr<PutStream> stream = client_->OpenPut();
      const uint64_t before = pump_.counts().batches;
      status = pump_.Run(*stream, stop_);
      if (pump_.counts().batches > before) rest.Reset();
    }
    if (stop_) return;
    if (status.ok()) {  // A new map.
      rest.Reset();
      SetError(&Neighbour::pump_error_, status);
      continue;
    }
    // The two sides may take up a new map at different moments, which is no
    // error yet.
    if (!absl::IsAborted(status)) SetError(&Neighbour::pump_error_, status);
    if (Rest(rest.Next(), /*is_beat=*/false)) return;
  }
}

void Neighbour::OnHeard(const peers::Greeting& greeting) {
  storage::MutexLock lock(&mu_);
  heard_ = own_.clock.SteadyNow();
  term_ = greeting.term();
  epoch_ = greeting.epoch();
  const auto view = own_.maps.view();
  if (view != nullptr && !IsNewer(term_, epoch_, view->map())) return;
  has_news_ = true;  // Its beat thread fetches the map.
  changed_.SignalAll();
}

void Neighbour::BeatNow() {
  storage::MutexLock lock(&mu_);
  has_news_ = true;
  changed_.SignalAll();
}

void Neighbour::OnReceived(uint64_t urls, uint64_t pages,
                           const BatchBytes& bytes) {
  ++received_batches_;
  received_urls_ += urls;
  received_pages_ += pages;
  received_url_bytes_ += bytes.urls;
  received_page_bytes_ += bytes.pages;
}

NeighbourSnapshot Neighbour::Snapshot() const {
  NeighbourSnapshot snapshot;
  snapshot.incarnation = site_.incarnation();
  snapshot.sent = pump_.counts();
  snapshot.received_batches = received_batches_;
  snapshot.received_urls = received_urls_;
  snapshot.received_pages = received_pages_;
  snapshot.received_bytes.urls = received_url_bytes_;
  snapshot.received_bytes.pages = received_page_bytes_;
  storage::MutexLock lock(&mu_);
  snapshot.silent_for = own_.clock.SteadyNow() - heard_;
  snapshot.is_alive = snapshot.silent_for < settings_.away_after;
  snapshot.answers = answers_;
  snapshot.term = term_;
  snapshot.epoch = epoch_;
  snapshot.condition = condition_;
  snapshot.condition_asked = condition_asked_;
  // A refusal from before it went away must not stop this site for ever.
  snapshot.takes_us_for_a_copy =
      own_.clock.SteadyNow() - taken_for_a_copy_ < settings_.away_after;
  snapshot.error = beat_error_.empty() ? pump_error_ : beat_error_;
  if (!round_trips_.empty()) {
    std::vector<absl::Duration> sorted = round_trips_;
    std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2,
                     sorted.end());
    snapshot.round_trip = sorted[sorted.size() / 2];
  }
  return snapshot;
}

}  // namespace gannet::federation
