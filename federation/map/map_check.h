// Simple facts about a map, and whether it is valid: maps come from peers, from
// files and from an old disk, and are checked before they are used. Functions
// only; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "proto/federation.pb.h"

namespace gannet::federation {

using Map = proto::FederationMap;

// Bounds on what a map may hold: what is beyond is a mistake or a forgery.
inline constexpr uint32_t kMapVersion = 1;
inline constexpr int kMostSites = 10'000;
inline constexpr int kMostScopeRules = 10'000;
inline constexpr int kMostBlocked = 1'000'000;
// Changes are rare. Together these fit into one number: see Stamp().
inline constexpr uint64_t kLastEpoch = (uint64_t{1} << 24) - 1;
inline constexpr uint64_t kLastTerm = (uint64_t{1} << 40) - 1;
inline constexpr uint32_t kLastSiteId = (uint32_t{1} << 20) - 1;

bool IsSame(const google::protobuf::Message& a,
            const google::protobuf::Message& b);
// Null if there is none.
const proto::MapSite* FindSite(const Map& map, std::string_view name);
const proto::MapSite* FindSite(const Map& map, uint32_t id);
// Takes part in exchange: a member, or leaving.
bool IsActive(const proto::MapSite& site);
bool IsNewer(const Map& a, const Map& b);
bool IsNewer(uint64_t term, uint64_t epoch, const Map& than);
// A term says how often the registrar's role was adopted, and by whom last: two
// sites that adopt at once make two terms, of which one is the higher.
uint64_t NextTerm(uint64_t term, uint32_t adopter);
// How people count terms: the first is 1.
uint64_t TermNumber(uint64_t term);
// A version of the map as one number, in the order of IsNewer(). Epochs alone
// will not do: a registrar that was cut off may have made some that those of
// the next term make again.
uint64_t Stamp(uint64_t term, uint64_t epoch);
uint64_t Stamp(const Map& map);
// Of the change that brought its placement: channels move once for it.
uint64_t PlacedStamp(const Map& map);
// The same version with other content: one of them is a forgery or a mistake.
bool Contradicts(const Map& a, const Map& b);
bool IsHandingOff(const Map& map);
// kInvalidArgument says what is wrong with the map.
absl::Status CheckMap(const Map& map);
// Letters, digits, '-', '_' and '.', as in archive files and certificates.
absl::Status CheckSiteName(std::string_view name);
absl::Status CheckPeerAddress(std::string_view address);
// kInvalidArgument names the rule that differs, and both values.
absl::Status CheckRules(const proto::MapRules& federations,
                        const proto::MapRules& sites);
absl::Status CheckScope(const proto::MapRules& rules);
// Of a site that has joined, or wants to.
absl::Status CheckJoinedSite(const proto::MapSite& site);
// Kind and virtual nodes; the shares are CheckMap()'s.
absl::Status CheckPlacementSettings(const proto::MapPlacement& placement);
absl::Status CheckBlockable(std::string_view domain);

}  // namespace gannet::federation
