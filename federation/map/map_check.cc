#include "federation/map/map_check.h"

#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>

#include "storage/crawl_db/scopes.h"

namespace gannet::federation {

using proto::MapPlacement;
using proto::MapRules;
using proto::MapSite;

namespace {

constexpr uint32_t kMostCapacity = 1'000;
constexpr uint32_t kMostVirtualNodes = 10'000;
constexpr size_t kLongestName = 63;
constexpr size_t kLongestAddress = 300;
constexpr size_t kLongestDomain = 253;
constexpr int kSiteIdBits = 20;
constexpr int kEpochBits = 24;
static_assert(kLastSiteId == (uint32_t{1} << kSiteIdBits) - 1);
static_assert(kLastEpoch == (uint64_t{1} << kEpochBits) - 1);
static_assert(kLastTerm == ~uint64_t{0} >> kEpochBits);

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

absl::Status CheckPlacement(const Map& map, const MapPlacement& placement) {
  if (absl::Status s = CheckPlacementSettings(placement); !s.ok()) return s;
  if (placement.shares().empty()) {
    return absl::InvalidArgumentError("a placement has no sites");
  }
  uint32_t last = 0;
  for (const MapPlacement::Share& share : placement.shares()) {
    if (share.site() <= last || share.site() > map.last_site_id()) {
      return absl::InvalidArgumentError("a placement's sites are out of order");
    }
    last = share.site();
    if (share.capacity() < 1 || share.capacity() > kMostCapacity) {
      return absl::InvalidArgumentError(
          "a placement's capacity is out of range");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSites(const Map& map) {
  if (map.sites_size() > kMostSites) {
    return absl::InvalidArgumentError("more sites than a federation can have");
  }
  uint32_t last = 0;
  std::set<std::string_view> names;
  for (const MapSite& site : map.sites()) {
    if (absl::Status s = CheckSiteName(site.name()); !s.ok()) return s;
    if (!names.insert(site.name()).second) {
      return absl::InvalidArgumentError(
          fmt::format("two sites have the name {}", site.name()));
    }
    if (site.id() <= last || site.id() > map.last_site_id()) {
      return absl::InvalidArgumentError("the sites are out of order");
    }
    last = site.id();
    if (!MapSite::State_IsValid(site.state())) {
      return absl::InvalidArgumentError("a site has an unknown state");
    }
    if (site.state() == MapSite::INVITED) continue;
    if (absl::Status s = CheckJoinedSite(site); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

bool IsSame(const google::protobuf::Message& a,
            const google::protobuf::Message& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

const MapSite* FindSite(const Map& map, std::string_view name) {
  for (const MapSite& site : map.sites()) {
    if (site.name() == name) return &site;
  }
  return nullptr;
}

const MapSite* FindSite(const Map& map, uint32_t id) {
  for (const MapSite& site : map.sites()) {
    if (site.id() == id) return &site;
  }
  return nullptr;
}

bool IsActive(const MapSite& site) { return site.state() != MapSite::INVITED; }

bool IsNewer(uint64_t term, uint64_t epoch, const Map& than) {
  return std::tuple(term, epoch) > std::tuple(than.term(), than.epoch());
}

bool IsNewer(const Map& a, const Map& b) {
  return IsNewer(a.term(), a.epoch(), b);
}

uint64_t NextTerm(uint64_t term, uint32_t adopter) {
  return ((term >> kSiteIdBits) + 1) << kSiteIdBits | adopter;
}

uint64_t TermNumber(uint64_t term) { return (term >> kSiteIdBits) + 1; }

uint64_t Stamp(uint64_t term, uint64_t epoch) {
  return term << kEpochBits | epoch;
}

uint64_t Stamp(const Map& map) { return Stamp(map.term(), map.epoch()); }

uint64_t PlacedStamp(const Map& map) {
  return Stamp(map.placed_term(), map.placed_epoch());
}

bool Contradicts(const Map& a, const Map& b) {
  return a.federation() != b.federation() ||
         (a.term() == b.term() && a.epoch() == b.epoch() && !IsSame(a, b));
}

bool IsHandingOff(const Map& map) { return map.has_previous_placement(); }

absl::Status CheckSiteName(std::string_view name) {
  if (!name.empty() && name.size() <= kLongestName && name.front() != '.' &&
      name.front() != '-' &&
      std::all_of(name.begin(), name.end(), IsNameCharacter)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format(
      "a site's name has letters, digits, '-', '_' and '.', begins with a "
      "letter or a digit, and has at most {} of them",
      kLongestName));
}

absl::Status CheckPeerAddress(std::string_view address) {
  const size_t colon = address.rfind(':');
  const std::string_view port =
      colon == std::string_view::npos ? "" : address.substr(colon + 1);
  const std::string_view host = address.substr(0, colon);
  const bool is_port =
      !port.empty() && port.size() <= 5 && port.front() != '0' &&
      std::all_of(port.begin(), port.end(),
                  [](char c) { return c >= '0' && c <= '9'; }) &&
      std::stoi(std::string(port)) <= 65535;
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  const bool is_host =
      !host.empty() && address.size() <= kLongestAddress &&
      (is_bracketed || host.find(':') == std::string_view::npos) &&
      std::all_of(host.begin(), host.end(), [](char c) {
        return IsNameCharacter(c) || c == '[' || c == ']' || c == ':';
      });
  if (is_port && is_host) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "a site's address is a host and a port, such as tokyo.example:7701");
}

absl::Status CheckRules(const MapRules& federations, const MapRules& sites) {
  const auto differs = [](std::string_view rule, std::string_view theirs,
                          std::string_view ours) {
    return absl::InvalidArgumentError(fmt::format(
        "this site's rules are not the federation's: {} is '{}' here and '{}' "
        "there; all sites must judge URLs alike",
        rule, ours, theirs));
  };
  if (federations.public_suffixes() != sites.public_suffixes()) {
    return differs("the public suffix list", federations.public_suffixes(),
                   sites.public_suffixes());
  }
  if (federations.canonical() != sites.canonical()) {
    return differs("how URLs become canonical", federations.canonical(),
                   sites.canonical());
  }
  if (federations.filters() != sites.filters()) {
    return differs("the filters", federations.filters(), sites.filters());
  }
  if (federations.channel() != sites.channel()) {
    return differs("the channel unit",
                   proto::ChannelUnit_Name(federations.channel()),
                   proto::ChannelUnit_Name(sites.channel()));
  }
  if (federations.exchange() != sites.exchange()) {
    return differs("the exchange mode",
                   proto::ExchangeMode_Name(federations.exchange()),
                   proto::ExchangeMode_Name(sites.exchange()));
  }
  return absl::OkStatus();
}

absl::Status CheckScope(const MapRules& rules) {
  if (rules.scope_size() > kMostScopeRules) {
    return absl::InvalidArgumentError(fmt::format(
        "the scope has {} rules, and a map has room for {}: fewer seeds with a "
        "scope of their own, or --allow for whole domains",
        rules.scope_size(), kMostScopeRules));
  }
  storage::Scope scope;
  for (const proto::ScopeRule& message : rules.scope()) {
    const auto rule = storage::FromMessage(message);
    if (!rule.ok()) return rule.status();
    if (absl::Status s = scope.Add(*rule); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status CheckMap(const Map& map) {
  if (map.version() != kMapVersion) {
    return absl::InvalidArgumentError(
        fmt::format("the map has version {}; this Gannet reads {}",
                    map.version(), kMapVersion));
  }
  if (map.federation() == 0 || map.epoch() == 0 || map.epoch() > kLastEpoch ||
      map.term() > kLastTerm || map.last_site_id() > kLastSiteId ||
      map.placed_epoch() > kLastEpoch || map.placed_term() > kLastTerm ||
      PlacedStamp(map) > Stamp(map)) {
    return absl::InvalidArgumentError("the map has no valid identity or epoch");
  }
  if (absl::Status s = CheckSites(map); !s.ok()) return s;
  if (absl::Status s = CheckPlacement(map, map.placement()); !s.ok()) return s;
  for (const MapPlacement::Share& share : map.placement().shares()) {
    const MapSite* site = FindSite(map, share.site());
    if (site == nullptr || site->state() != MapSite::MEMBER) {
      return absl::InvalidArgumentError(
          "a placement gives channels to a site that is not a member");
    }
  }
  if (map.has_previous_placement()) {
    absl::Status s = CheckPlacement(map, map.previous_placement());
    if (!s.ok()) return s;
  }
  if (map.registrar() != 0 && FindSite(map, map.registrar()) == nullptr) {
    return absl::InvalidArgumentError("the registrar is not a site of the map");
  }
  if (!proto::ChannelUnit_IsValid(map.rules().channel()) ||
      !proto::ExchangeMode_IsValid(map.rules().exchange())) {
    return absl::InvalidArgumentError("a rule has an unknown value");
  }
  if (absl::Status s = CheckScope(map.rules()); !s.ok()) return s;
  if (map.blocked_size() > kMostBlocked) {
    return absl::InvalidArgumentError(
        "more blocked domains than a map can have");
  }
  for (int i = 0; i < map.blocked_size(); ++i) {
    if (absl::Status s = CheckBlockable(map.blocked(i)); !s.ok()) return s;
    if (i > 0 && map.blocked(i - 1) >= map.blocked(i)) {
      return absl::InvalidArgumentError("the blocked domains are out of order");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckJoinedSite(const MapSite& site) {
  if (absl::Status s = CheckSiteName(site.name()); !s.ok()) return s;
  if (absl::Status s = CheckPeerAddress(site.address()); !s.ok()) return s;
  if (site.incarnation() == 0) {
    return absl::InvalidArgumentError("a site has no incarnation");
  }
  // NaN is in no range.
  const bool is_on_earth = std::abs(site.location().latitude()) <= 90 &&
                           std::abs(site.location().longitude()) <= 180;
  if (!is_on_earth) {
    return absl::InvalidArgumentError(
        "a site's location has a latitude of -90 to 90 degrees and a longitude "
        "of -180 to 180");
  }
  if (site.capacity() < 1 || site.capacity() > kMostCapacity) {
    return absl::InvalidArgumentError(
        fmt::format("capacity: found {}, allowed is 1 to {}", site.capacity(),
                    kMostCapacity));
  }
  return absl::OkStatus();
}

absl::Status CheckPlacementSettings(const MapPlacement& placement) {
  if (placement.kind() != "hash") {
    return absl::InvalidArgumentError(fmt::format(
        "placement: found '{}', allowed is hash", placement.kind()));
  }
  if (placement.virtual_nodes() < 1 ||
      placement.virtual_nodes() > kMostVirtualNodes) {
    return absl::InvalidArgumentError(
        fmt::format("virtual nodes: found {}, allowed is 1 to {}",
                    placement.virtual_nodes(), kMostVirtualNodes));
  }
  return absl::OkStatus();
}

absl::Status CheckBlockable(std::string_view domain) {
  const bool plain = !domain.empty() && domain.size() <= kLongestDomain &&
                     std::all_of(domain.begin(), domain.end(), [](char c) {
                       return c > ' ' && c != '/' && c != 127;
                     });
  if (plain) return absl::OkStatus();
  return absl::InvalidArgumentError("a blocked domain is not a host name");
}

}  // namespace gannet::federation
