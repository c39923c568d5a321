#include "sites/agent/federation_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "federation/map/map_changes.h"
#include "sites/admin/utf8.h"

namespace gannet::sites {
namespace {

using federation::Map;
using federation::NeighbourSnapshot;
using proto::MapSite;

const char* StateName(MapSite::State state) {
  switch (state) {
    case MapSite::INVITED:
      return "invited";
    case MapSite::LEAVING:
      return "leaving";
    default:
      return "member";
  }
}

double ShareOf(const Map& map, uint32_t site) {
  double all = 0, own = 0;
  for (const auto& share : map.placement().shares()) {
    all += share.capacity();
    if (share.site() == site) own = share.capacity();
  }
  return all == 0 ? 0 : own / all;
}

void AddCondition(const peers::Condition& condition,
                  admin::FederationSite& site) {
  site.set_pages(condition.pages());
  site.set_frontier(condition.frontier());
  site.set_pages_per_second(condition.pages_per_second());
  site.set_idle(condition.is_idle());
}

void AddSnapshot(const NeighbourSnapshot& snapshot,
                 admin::FederationSite& site) {
  site.set_alive(snapshot.is_alive);
  site.set_epoch(snapshot.epoch);
  if (snapshot.condition.has_value()) AddCondition(*snapshot.condition, site);
  if (snapshot.round_trip.has_value()) {
    site.set_round_trip_seconds(absl::ToDoubleSeconds(*snapshot.round_trip));
  }
  if (snapshot.silent_for != absl::InfiniteDuration()) {
    site.set_last_heard_seconds(absl::ToDoubleSeconds(snapshot.silent_for));
  }
  site.set_sent_urls(static_cast<int64_t>(snapshot.sent.urls));
  site.set_sent_bytes(static_cast<int64_t>(snapshot.sent.bytes.urls));
  site.set_sent_pages(static_cast<int64_t>(snapshot.sent.pages));
  site.set_sent_page_bytes(static_cast<int64_t>(snapshot.sent.bytes.pages));
  site.set_received_urls(static_cast<int64_t>(snapshot.received_urls));
  site.set_received_bytes(static_cast<int64_t>(snapshot.received_bytes.urls));
  site.set_received_pages(static_cast<int64_t>(snapshot.received_pages));
  site.set_received_page_bytes(
      static_cast<int64_t>(snapshot.received_bytes.pages));
  site.set_error(Utf8(snapshot.error));
}

void AddHandOff(const federation::FederationSnapshot& snapshot,
                admin::FederationState& reply) {
  const Map& map = snapshot.view->map();
  if (!federation::IsHandingOff(map)) return;
  admin::HandingOff& moving = *reply.mutable_handing_off();
  moving.set_epoch(map.placed_epoch());
  int active = 0;
  for (const MapSite& site : map.sites()) {
    active += federation::IsActive(site) ? 1 : 0;
    const bool is_self = snapshot.view->self() != nullptr &&
                         site.id() == snapshot.view->self()->id();
    const peers::Condition* condition =
        is_self ? &snapshot.self
                : federation::ConditionOf(site, snapshot.neighbours);
    if (condition == nullptr) continue;
    moving.set_pages_left(moving.pages_left() + condition->pages_to_hand_off());
    if (condition->handed_off() >= federation::PlacedStamp(map)) {
      moving.add_sites_done(site.name());
    }
  }
  // In a map that is a file, only the next change says that it is over.
  if (map.registrar() == 0 && moving.sites_done_size() == active) {
    reply.clear_handing_off();
  }
}

// The map as if that site had joined.
absl::StatusOr<Map> WithSite(const Map& map, const std::string& name,
                             uint32_t capacity) {
  Map with = map;
  if (federation::FindSite(map, name) == nullptr) {
    auto invited = federation::Invite(map, name);
    if (!invited.ok()) return invited;
    with = *std::move(invited);
  }
  federation::Applicant applicant;
  applicant.name = name;
  applicant.incarnation = 1;
  applicant.address = "127.0.0.1:1";
  applicant.capacity = capacity;
  applicant.rules = map.rules();
  return federation::Join(with, applicant);
}

}  // namespace

void ToMessage(const federation::FederationSnapshot& snapshot,
               const std::map<storage::SiteId, int64_t>& outbox_urls,
               admin::FederationState& reply) {
  const federation::MapView& view = *snapshot.view;
  const Map& map = view.map();
  reply.set_epoch(map.epoch());
  reply.set_term(federation::TermNumber(map.term()));
  if (const MapSite* registrar = federation::FindSite(map, map.registrar())) {
    reply.set_registrar(registrar->name());
  }
  reply.set_registrar_reachable(snapshot.registrar_is_reachable);
  reply.set_paused(map.paused());
  reply.set_quiet(snapshot.is_quiet);
  reply.set_exchange(map.rules().exchange() == proto::EXCHANGE_CASH ? "cash"
                                                                    : "urls");
  reply.set_channel(map.rules().channel() == proto::CHANNEL_HOST ? "host"
                                                                 : "domain");
  reply.set_placement(map.placement().kind());
  reply.set_virtual_nodes(map.placement().virtual_nodes());
  reply.set_error(Utf8(snapshot.error));
  reply.set_refused_calls(static_cast<int64_t>(snapshot.refused_calls));
  reply.set_cut_streams(static_cast<int64_t>(snapshot.cut_streams));
  reply.set_refused_batches(static_cast<int64_t>(snapshot.received.refused));
  reply.set_repeated_batches(static_cast<int64_t>(snapshot.received.repeated));
  *reply.mutable_blocked() = map.blocked();
  AddHandOff(snapshot, reply);
  uint64_t newest = map.epoch();
  for (const auto& [id, neighbour] : snapshot.neighbours) {
    newest = std::max(newest, neighbour.epoch);
  }
  for (const MapSite& from : map.sites()) {
    admin::FederationSite& site = *reply.add_sites();
    site.set_id(from.id());
    site.set_name(from.name());
    site.set_state(StateName(from.state()));
    site.set_address(from.address());
    site.set_capacity(from.capacity());
    site.set_share(ShareOf(map, from.id()));
    if (from.location().latitude() != 0 || from.location().longitude() != 0) {
      site.add_location(from.location().latitude());
      site.add_location(from.location().longitude());
    }
    if (const auto urls = outbox_urls.find(storage::SiteId{from.id()});
        urls != outbox_urls.end()) {
      site.set_outbox(urls->second);
    }
    if (view.self() != nullptr && from.id() == view.self()->id()) {
      reply.set_self(from.name());
      site.set_is_self(true);
      site.set_alive(true);
      site.set_epoch(map.epoch());
      site.set_outbox(snapshot.self.outbox_urls());
      AddCondition(snapshot.self, site);
    } else if (const auto at = snapshot.neighbours.find(from.id());
               at != snapshot.neighbours.end()) {
      AddSnapshot(at->second, site);
    }
    site.set_lag(newest - std::min(newest, site.epoch()));
  }
}

void ToMessage(const federation::Plan& plan, const Map& now,
               admin::FederationPlan& reply) {
  // The sites of both maps: a new one has nothing yet, one that goes has
  // nothing afterwards.
  std::map<uint32_t, admin::FederationPlan::Site> sites;
  for (const Map* map : {&now, &plan.next}) {
    for (const MapSite& site : map->sites()) {
      if (federation::IsActive(site)) sites[site.id()].set_name(site.name());
    }
  }
  for (const auto& [id, counts] : plan.by_site) {
    admin::FederationPlan::Site& site = sites[id];
    site.set_channels_now(counts.channels());
    site.set_pages_now(counts.pages());
    for (const auto& move : counts.moves()) {
      site.set_channels_out(site.channels_out() + move.channels());
      site.set_pages_out(site.pages_out() + move.pages());
      site.set_bytes_out(site.bytes_out() + move.bytes());
      admin::FederationPlan::Site& to = sites[move.site()];
      to.set_channels_after(to.channels_after() + move.channels());
      to.set_pages_after(to.pages_after() + move.pages());
    }
  }
  for (const auto& [id, error] : plan.unknown) sites[id].set_error(Utf8(error));
  for (auto& [id, site] : sites) {
    site.set_channels_after(site.channels_after() + site.channels_now() -
                            site.channels_out());
    site.set_pages_after(site.pages_after() + site.pages_now() -
                         site.pages_out());
    reply.set_channels(reply.channels() + site.channels_out());
    reply.set_pages(reply.pages() + site.pages_out());
    reply.set_bytes(reply.bytes() + site.bytes_out());
    *reply.add_sites() = site;
  }
}

absl::StatusOr<federation::MapChange> ToChange(
    const admin::ChangeFederationRequest& request, const std::string& self) {
  using federation::MapChange;
  using Request = admin::ChangeFederationRequest;
  const auto or_self = [&](const std::string& name) {
    return name.empty() ? self : name;
  };
  switch (request.change_case()) {
    case Request::kInvite: {
      const std::string& name = request.invite().name();
      return MapChange(
          [name](const Map& map) { return federation::Invite(map, name); });
    }
    case Request::kRemove: {
      const std::string& name = request.remove().name();
      return MapChange(
          [name](const Map& map) { return federation::Remove(map, name); });
    }
    case Request::kLeave: {
      const std::string name = or_self(request.leave().name());
      return MapChange(
          [name](const Map& map) { return federation::Leave(map, name); });
    }
    case Request::kPaused: {
      const bool paused = request.paused();
      return MapChange(
          [paused](const Map& map) { return federation::Pause(map, paused); });
    }
    case Request::kCapacity: {
      const std::string name = or_self(request.capacity().site());
      const uint32_t capacity = request.capacity().capacity();
      return MapChange([name, capacity](const Map& map) {
        return federation::SetCapacity(map, name, capacity);
      });
    }
    case Request::kPlacement: {
      const Request::Placement wanted = request.placement();
      return MapChange([wanted](const Map& map) {
        federation::PlacementSettings settings;
        settings.kind =
            wanted.kind().empty() ? map.placement().kind() : wanted.kind();
        settings.virtual_nodes = wanted.virtual_nodes() == 0
                                     ? map.placement().virtual_nodes()
                                     : wanted.virtual_nodes();
        return federation::Switch(map, settings);
      });
    }
    case Request::kAdd:
      return absl::InvalidArgumentError("'add' is for plans only");
    case Request::kJoin:
    case Request::kRules:
    case Request::kAdopt:
      return absl::InvalidArgumentError(
          "'rules' and 'adopt' move nothing; to plan a join, ask for 'add'");
    case Request::CHANGE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "the request names no change of the federation that this agent knows; a "
      "newer or older 'gannet' may have sent it");
}

absl::StatusOr<federation::MapChange> ToPlannedChange(
    const admin::ChangeFederationRequest& request, const std::string& self) {
  if (!request.has_add()) return ToChange(request, self);
  const std::string& name = request.add().site();
  const uint32_t capacity = std::max<uint32_t>(request.add().capacity(), 1);
  return federation::MapChange([name, capacity](const Map& map) {
    return WithSite(map, name, capacity);
  });
}

}  // namespace gannet::sites
