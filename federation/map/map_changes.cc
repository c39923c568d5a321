#include "federation/map/map_changes.h"

#include <fmt/format.h>

#include <algorithm>

namespace gannet::federation {

using proto::MapPlacement;
using proto::MapSite;

namespace {

MapSite* MutableSite(Map& map, std::string_view name) {
  for (MapSite& site : *map.mutable_sites()) {
    if (site.name() == name) return &site;
  }
  return nullptr;
}

absl::Status NoSuchSite(const Map& map, std::string_view name) {
  std::string names;
  for (const MapSite& site : map.sites()) {
    names += (names.empty() ? "" : ", ") + site.name();
  }
  return absl::NotFoundError(
      fmt::format("the federation has no site '{}'; it has {}", name, names));
}

// The next epoch, with nothing changed yet.
Map Next(const Map& map) {
  Map next = map;
  next.set_epoch(map.epoch() + 1);
  return next;
}

absl::Status CheckNothingMoves(const Map& map) {
  if (!IsHandingOff(map)) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "channels still move for the change of epoch {}; 'gannet federation "
      "status' shows how far it is, try again when it is done",
      map.placed_epoch()));
}

// Those that own something: joined, and not about to leave.
void SetShares(const Map& map, MapPlacement& placement) {
  placement.clear_shares();
  for (const MapSite& site : map.sites()) {
    if (site.state() != MapSite::MEMBER) continue;
    MapPlacement::Share& share = *placement.add_shares();
    share.set_site(site.id());
    share.set_capacity(site.capacity());
  }
}

// Channels move to where `placement` has them. If a hand-off is still running,
// its previous placement stays the previous one: what has not moved yet is
// there.
void Place(Map& next, const MapPlacement& placement) {
  if (IsSame(next.placement(), placement)) return;
  if (IsHandingOff(next)) {
    next.set_in_haste(true);
  } else {
    *next.mutable_previous_placement() = next.placement();
  }
  *next.mutable_placement() = placement;
  next.set_placed_term(next.term());
  next.set_placed_epoch(next.epoch());
}

void PlaceAnew(Map& next) {
  MapPlacement placement = next.placement();
  SetShares(next, placement);
  Place(next, placement);
}

void Apply(const Applicant& applicant, MapSite& site) {
  site.set_name(applicant.name);
  site.set_state(MapSite::MEMBER);
  site.set_incarnation(applicant.incarnation);
  site.set_address(applicant.address);
  *site.mutable_location() = applicant.location;
  site.set_capacity(applicant.capacity);
}

absl::Status CheckApplicant(const Applicant& applicant) {
  MapSite site;
  Apply(applicant, site);
  return CheckJoinedSite(site);
}

void Apply(const PlacementSettings& settings, MapPlacement& placement) {
  placement.set_kind(settings.kind);
  placement.set_virtual_nodes(settings.virtual_nodes);
}

MapSite& AddSite(Map& next, std::string_view name) {
  next.set_last_site_id(next.last_site_id() + 1);
  MapSite& site = *next.add_sites();
  site.set_id(next.last_site_id());
  site.set_name(std::string(name));
  return site;
}

}  // namespace

absl::StatusOr<Map> FoundFederation(const Applicant& first, uint64_t federation,
                                    const PlacementSettings& settings,
                                    bool is_registrar) {
  if (absl::Status s = CheckApplicant(first); !s.ok()) return s;
  Map map;
  MapPlacement& placement = *map.mutable_placement();
  Apply(settings, placement);
  if (absl::Status s = CheckPlacementSettings(placement); !s.ok()) return s;
  if (absl::Status s = CheckScope(first.rules); !s.ok()) return s;
  map.set_version(kMapVersion);
  map.set_federation(federation);
  map.set_term(1);
  map.set_epoch(1);
  Apply(first, AddSite(map, first.name));
  if (is_registrar) map.set_registrar(map.last_site_id());
  *map.mutable_rules() = first.rules;
  placement.set_seed(federation);
  SetShares(map, placement);
  map.set_placed_term(map.term());
  map.set_placed_epoch(map.epoch());
  return map;
}

absl::StatusOr<Map> Invite(const Map& map, std::string_view name) {
  if (absl::Status s = CheckSiteName(name); !s.ok()) return s;
  if (FindSite(map, name) != nullptr) {
    return absl::AlreadyExistsError(fmt::format(
        "'{}' is already a site of the federation, or invited", name));
  }
  if (map.sites_size() >= kMostSites || map.last_site_id() >= kLastSiteId) {
    return absl::FailedPreconditionError(
        fmt::format("a federation has at most {} sites", kMostSites));
  }
  Map next = Next(map);
  AddSite(next, name);
  return next;
}

absl::StatusOr<Map> Join(const Map& map, const Applicant& applicant,
                         uint64_t replaces) {
  if (absl::Status s = CheckApplicant(applicant); !s.ok()) return s;
  if (absl::Status s = CheckRules(map.rules(), applicant.rules); !s.ok()) {
    return s;
  }
  const MapSite* known = FindSite(map, applicant.name);
  if (known == nullptr) {
    return absl::PermissionDeniedError(fmt::format(
        "'{0}' is not invited; an administrator does it with 'gannet "
        "federation invite {0}'",
        applicant.name));
  }
  const bool is_new = known->state() == MapSite::INVITED;
  if (!is_new && known->incarnation() != applicant.incarnation &&
      known->incarnation() != replaces) {
    return absl::AlreadyExistsError(fmt::format(
        "'{}' is already a member, and this is another copy of it; if that one "
        "is gone for good, remove it ('gannet federation remove {}') and "
        "invite this one",
        applicant.name, applicant.name));
  }
  if (is_new) {
    if (absl::Status s = CheckNothingMoves(map); !s.ok()) return s;
  }
  Map next = Next(map);
  MapSite& site = *MutableSite(next, applicant.name);
  const uint32_t capacity = site.capacity();
  Apply(applicant, site);
  // A site that comes back keeps its capacity (SetCapacity() changes it), and
  // is still leaving if it was: it has pages to hand over.
  if (!is_new) {
    site.set_capacity(capacity);
    site.set_state(known->state());
  }
  if (is_new) {
    PlaceAnew(next);
  } else if (IsSame(*known, site)) {
    return map;
  }
  return next;
}

absl::StatusOr<Map> Leave(const Map& map, std::string_view name) {
  const MapSite* site = FindSite(map, name);
  if (site == nullptr) return NoSuchSite(map, name);
  if (site->state() == MapSite::INVITED) return Remove(map, name);
  if (site->state() == MapSite::LEAVING) return map;
  if (map.placement().shares_size() < 2) {
    return absl::FailedPreconditionError(fmt::format(
        "'{}' is the last site: no other site could take its channels", name));
  }
  if (map.registrar() == site->id()) {
    return absl::FailedPreconditionError(fmt::format(
        "'{}' is the registrar; let another site adopt that first: 'gannet "
        "federation adopt' there",
        name));
  }
  if (absl::Status s = CheckNothingMoves(map); !s.ok()) return s;
  Map next = Next(map);
  MutableSite(next, name)->set_state(MapSite::LEAVING);
  PlaceAnew(next);
  return next;
}

absl::StatusOr<Map> Remove(const Map& map, std::string_view name) {
  const MapSite* site = FindSite(map, name);
  if (site == nullptr) return NoSuchSite(map, name);
  if (map.registrar() == site->id()) {
    return absl::FailedPreconditionError(fmt::format(
        "'{}' is the registrar; let another site adopt that first: 'gannet "
        "federation adopt' there",
        name));
  }
  const bool owns = site->state() == MapSite::MEMBER;
  if (owns && map.placement().shares_size() < 2) {
    return absl::FailedPreconditionError(
        fmt::format("'{}' is the last site", name));
  }
  Map next = Next(map);
  auto& sites = *next.mutable_sites();
  sites.erase(
      std::find_if(sites.begin(), sites.end(),
                   [&](const MapSite& other) { return other.name() == name; }));
  if (owns) PlaceAnew(next);
  return next;
}

absl::StatusOr<Map> Switch(const Map& map, const PlacementSettings& settings) {
  MapPlacement placement = map.placement();
  Apply(settings, placement);
  if (absl::Status s = CheckPlacementSettings(placement); !s.ok()) return s;
  if (IsSame(placement, map.placement())) return map;
  if (absl::Status s = CheckNothingMoves(map); !s.ok()) return s;
  Map next = Next(map);
  Place(next, placement);
  return next;
}

absl::StatusOr<Map> SetCapacity(const Map& map, std::string_view name,
                                uint32_t capacity) {
  const MapSite* site = FindSite(map, name);
  if (site == nullptr) return NoSuchSite(map, name);
  if (site->state() != MapSite::MEMBER) {
    return absl::FailedPreconditionError(
        fmt::format("'{}' is no member (yet, or any more)", name));
  }
  if (site->capacity() == capacity) return map;
  if (absl::Status s = CheckNothingMoves(map); !s.ok()) return s;
  Map next = Next(map);
  MapSite& changed = *MutableSite(next, name);
  changed.set_capacity(capacity);
  if (absl::Status s = CheckJoinedSite(changed); !s.ok()) return s;
  PlaceAnew(next);
  return next;
}

absl::StatusOr<Map> SetRules(const Map& map, const proto::MapRules& rules) {
  if (IsSame(map.rules(), rules)) return map;
  if (map.rules().channel() != rules.channel()) {
    return absl::FailedPreconditionError(
        "what a channel is cannot be changed: everything would have to move");
  }
  proto::MapRules but_for_scope = rules;
  *but_for_scope.mutable_scope() = map.rules().scope();
  if (!IsSame(map.rules(), but_for_scope)) {
    if (absl::Status s = CheckNothingMoves(map); !s.ok()) return s;
  }
  if (absl::Status s = CheckScope(rules); !s.ok()) return s;
  Map next = Next(map);
  *next.mutable_rules() = rules;
  return next;
}

absl::Status EditScope(const ScopeEdit& edit, proto::MapRules& rules) {
  auto& scope = *rules.mutable_scope();
  const auto drop = [&](const auto& matches) {
    const auto end = std::remove_if(scope.begin(), scope.end(), matches);
    const bool some = end != scope.end();
    scope.erase(end, scope.end());
    return some;
  };
  const auto has_seeds = [&] {
    return std::any_of(scope.begin(), scope.end(), [](const auto& rule) {
      return rule.kind() != proto::ScopeRule::ALLOW &&
             rule.kind() != proto::ScopeRule::DENY;
    });
  };
  const bool had_seeds = has_seeds();
  for (const std::string& name : edit.forget) {
    if (!drop([&](const auto& rule) { return rule.name() == name; })) {
      return absl::NotFoundError(fmt::format(
          "the federation's scope has no seed or name '{:.200}'", name));
    }
  }
  // Kinds of one group exclude each other: of a seed, or the same list.
  const auto group = [](proto::ScopeRule::Kind kind) {
    return kind == proto::ScopeRule::ALLOW || kind == proto::ScopeRule::DENY
               ? kind
               : proto::ScopeRule::ANY;
  };
  for (const storage::ScopeRule& put : edit.put) {
    const proto::ScopeRule message = storage::ToMessage(put);
    drop([&](const auto& rule) {
      return rule.name() == message.name() &&
             group(rule.kind()) == group(message.kind());
    });
    *scope.Add() = message;
  }
  if (had_seeds && !has_seeds()) {
    return absl::FailedPreconditionError(
        "no seed would have a scope, and everything would be in scope; if that "
        "is meant, give a seed --scope any");
  }
  return absl::OkStatus();
}

absl::StatusOr<Map> FinishHandOff(const Map& map) {
  if (!IsHandingOff(map)) return map;
  Map next = Next(map);
  next.clear_previous_placement();
  next.clear_in_haste();
  auto& sites = *next.mutable_sites();
  sites.erase(std::remove_if(sites.begin(), sites.end(),
                             [](const MapSite& site) {
                               return site.state() == MapSite::LEAVING;
                             }),
              sites.end());
  return next;
}

absl::StatusOr<Map> Block(const Map& map, std::string_view domain) {
  if (absl::Status s = CheckBlockable(domain); !s.ok()) return s;
  const auto& blocked = map.blocked();
  const auto at = std::lower_bound(blocked.begin(), blocked.end(), domain);
  if (at != blocked.end() && *at == domain) return map;
  if (map.blocked_size() >= kMostBlocked) {
    return absl::FailedPreconditionError(
        fmt::format("at most {} domains can be blocked", kMostBlocked));
  }
  Map next = Next(map);
  next.clear_blocked();
  next.mutable_blocked()->Add(blocked.begin(), at);
  *next.add_blocked() = std::string(domain);
  next.mutable_blocked()->Add(at, blocked.end());
  return next;
}

absl::StatusOr<Map> Unblock(const Map& map, std::string_view domain) {
  const auto& blocked = map.blocked();
  const auto at = std::lower_bound(blocked.begin(), blocked.end(), domain);
  if (at == blocked.end() || *at != domain) {
    return absl::NotFoundError(fmt::format("{} is not blocked", domain));
  }
  Map next = Next(map);
  next.mutable_blocked()->erase(next.blocked().begin() +
                                (at - blocked.begin()));
  return next;
}

absl::StatusOr<Map> Pause(const Map& map, bool paused) {
  if (map.paused() == paused) return map;
  Map next = Next(map);
  next.set_paused(paused);
  return next;
}

absl::StatusOr<Map> Adopt(const Map& map, std::string_view name,
                          uint64_t highest_epoch) {
  const MapSite* site = FindSite(map, name);
  if (site == nullptr) return NoSuchSite(map, name);
  if (site->state() != MapSite::MEMBER) {
    return absl::FailedPreconditionError(
        fmt::format("'{}' is no member (yet, or any more)", name));
  }
  if (map.registrar() == 0) {
    return absl::FailedPreconditionError(
        "this federation's map is not kept by a site");
  }
  if (map.registrar() == site->id()) return map;
  if (highest_epoch >= kLastEpoch ||
      NextTerm(map.term(), site->id()) > kLastTerm) {
    return absl::InvalidArgumentError(fmt::format(
        "epoch {} exceeds the maximum {}", highest_epoch, kLastEpoch - 1));
  }
  Map next = map;
  next.set_term(NextTerm(map.term(), site->id()));
  next.set_epoch(std::max(map.epoch(), highest_epoch) + 1);
  next.set_registrar(site->id());
  return next;
}

}  // namespace gannet::federation
