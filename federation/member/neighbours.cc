#include "federation/member/neighbours.h"

#include <thread>
#include <utility>
#include <vector>

namespace gannet::federation {
namespace {

// So long after the start, neighbours that were not heard of may be there.
constexpr absl::Duration kIsNew = absl::Seconds(10);

}  // namespace

const peers::Condition* ConditionOf(const proto::MapSite& site,
                                    const NeighbourSnapshots& neighbours) {
  const auto at = neighbours.find(site.id());
  // The life before may have done its part; a restored site has not.
  if (at == neighbours.end() || at->second.incarnation != site.incarnation() ||
      !at->second.condition.has_value()) {
    return nullptr;
  }
  return &*at->second.condition;
}

bool HaveHandedOff(const MapView& view, const NeighbourSnapshots& neighbours) {
  for (const proto::MapSite* site : view.peers()) {
    const peers::Condition* condition = ConditionOf(*site, neighbours);
    if (condition == nullptr ||
        condition->handed_off() < PlacedStamp(view.map())) {
      return false;
    }
  }
  return true;
}

Neighbours::Neighbours(const OwnSite& own,
                       std::function<peers::Condition()> condition,
                       const NeighbourSettings& settings, Connect connect)
    : own_(own),
      condition_(std::move(condition)),
      settings_(settings),
      connect_(std::move(connect)),
      started_(own.clock.SteadyNow()) {
  settings_.pump.process = own.life.process();
}

void Neighbours::Meet(const MapView& view) {
  Set gone, come;
  for (const auto& [id, neighbour] : all()) {
    const proto::MapSite* site = FindSite(view.map(), id);
    if (site == nullptr || !IsActive(*site) ||
        site->incarnation() != neighbour->site().incarnation() ||
        site->address() != neighbour->site().address()) {
      gone[id] = neighbour;
    }
  }
  for (const proto::MapSite* site : view.peers()) {
    const auto known = Find(site->id());
    // A site that was removed goes on asking: it may be invited again.
    if (known != nullptr && !gone.contains(site->id())) continue;
    come[site->id()] = std::make_shared<Neighbour>(
        own_, condition_, settings_, *site,
        std::make_shared<PeerClient>(connect_(site->address(), site->name()),
                                     site->name(), site->address()));
  }
  {
    storage::MutexLock lock(&mu_);
    for (const auto& [id, neighbour] : gone) set_.erase(id);
    for (const auto& [id, neighbour] : come) set_[id] = neighbour;
  }
  for (const auto& [id, neighbour] : gone) {
    own_.note("neighbour_gone", {{"site", neighbour->site().name()}});
  }
  for (const auto& [id, neighbour] : come) {
    own_.note("neighbour_new", {{"site", neighbour->site().name()},
                                {"address", neighbour->site().address()}});
  }
}

Neighbours::Set Neighbours::all() const {
  storage::MutexLock lock(&mu_);
  return set_;
}

std::shared_ptr<Neighbour> Neighbours::Find(uint32_t site) const {
  storage::MutexLock lock(&mu_);
  const auto at = set_.find(site);
  return at == set_.end() ? nullptr : at->second;
}

NeighbourSnapshots Neighbours::Snapshots() const {
  NeighbourSnapshots snapshots;
  for (const auto& [id, neighbour] : all()) {
    snapshots[id] = neighbour->Snapshot();
  }
  return snapshots;
}

void Neighbours::FetchNewerMap() {
  std::vector<std::thread> questions;
  // A site that was restored cannot greet until it has joined again, so it has
  // heard of no neighbour; and its map may be old.
  const bool greets = own_.Greeting().ok();
  for (const auto& [site, neighbour] : all()) {
    const bool is_new = own_.clock.SteadyNow() - started_ < kIsNew;
    if (greets && !neighbour->Snapshot().is_alive && !is_new) continue;
    questions.emplace_back([greets, neighbour = neighbour] {
      (void)(greets ? neighbour->Beat() : neighbour->CatchUp());
    });
  }
  for (std::thread& question : questions) question.join();
}

absl::StatusOr<Map> Neighbours::AskToJoin(const std::string& address,
                                          const std::string& name,
                                          const peers::JoinRequest& request) {
  std::shared_ptr<PeerClient> door;
  {
    storage::MutexLock lock(&mu_);
    if (is_cancelled_) return absl::CancelledError("this site stops");
    door = std::make_shared<PeerClient>(connect_(address, name), name, address);
    doors_.insert(door);
  }
  peers::MapReply reply;
  const absl::Status status = door->Join(request, reply);
  storage::MutexLock lock(&mu_);
  doors_.erase(door);
  if (!status.ok()) return status;
  return std::move(*reply.mutable_map());
}

void Neighbours::Cancel() {
  {
    storage::MutexLock lock(&mu_);
    is_cancelled_ = true;
    for (const auto& door : doors_) door->Cancel();
  }
  for (const auto& [site, neighbour] : all()) neighbour->client().Cancel();
}

void Neighbours::End() {
  Set last;
  {
    storage::MutexLock lock(&mu_);
    last.swap(set_);
  }
}

}  // namespace gannet::federation
