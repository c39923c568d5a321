// What may be done to the federation's map: each function takes a map and gives
// the next one, epoch + 1, or says why not. They know nothing of where the map
// is kept; its keeper takes the next one by compare-and-swap, so that of two
// changes to the same map only one happens, and the other is tried again on the
// new map. Functions only; thread-safe.
//
// Channels move in one step at a time: while `previous_placement` is there, no
// change is accepted that moves others, but the removal of a dead site.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "federation/map/map_check.h"
#include "proto/federation.pb.h"
#include "storage/crawl_db/scopes.h"

namespace gannet::federation {

// A site that asks to be let in.
struct Applicant {
  std::string name;
  uint64_t incarnation = 0;
  std::string address;
  proto::MapLocation location;
  uint32_t capacity = 1;
  proto::MapRules rules;
};

struct PlacementSettings {
  std::string kind = "hash";
  uint32_t virtual_nodes = 200;
};

// The first map, with one site, which is its registrar unless the map is kept
// elsewhere. `federation` is random.
absl::StatusOr<Map> FoundFederation(const Applicant& first, uint64_t federation,
                                    const PlacementSettings& placement,
                                    bool is_registrar);
absl::StatusOr<Map> Invite(const Map& map, std::string_view name);
// Of an invited site; or of one that is a member already, with the same
// incarnation (it may have moved to another address), or with a new one, if
// it was restored: `replaces` is the incarnation that it had. kAlreadyExists: a
// second copy of a site that lives.
absl::StatusOr<Map> Join(const Map& map, const Applicant& applicant,
                         uint64_t replaces = 0);
absl::StatusOr<Map> Leave(const Map& map, std::string_view name);
// A site that is dead, or was only invited.
absl::StatusOr<Map> Remove(const Map& map, std::string_view name);
absl::StatusOr<Map> Switch(const Map& map, const PlacementSettings& settings);
// What all sites must do alike; not what a channel is.
absl::StatusOr<Map> SetRules(const Map& map, const proto::MapRules& rules);
// What a federation crawls. A seed has one rule; one that is put takes its
// place, as does one for an allowed or denied name.
struct ScopeEdit {
  std::vector<storage::ScopeRule> put;
  std::vector<std::string> forget;  // Seeds and names.
};
// The scope of `rules`, edited. kNotFound: there is none to forget.
absl::Status EditScope(const ScopeEdit& edit, proto::MapRules& rules);
absl::StatusOr<Map> SetCapacity(const Map& map, std::string_view name,
                                uint32_t capacity);
// Every site has said that its part is done: those that left are taken out.
absl::StatusOr<Map> FinishHandOff(const Map& map);
absl::StatusOr<Map> Block(const Map& map, std::string_view domain);
absl::StatusOr<Map> Unblock(const Map& map, std::string_view domain);
absl::StatusOr<Map> Pause(const Map& map, bool paused);
// `name` becomes the registrar, in a new term. `highest_epoch` is the highest
// that it has heard of.
absl::StatusOr<Map> Adopt(const Map& map, std::string_view name,
                          uint64_t highest_epoch);

}  // namespace gannet::federation
