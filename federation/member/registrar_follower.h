// RegistrarFollower follows a map that one of the sites keeps (RegistrarMap).
// Newer maps come by the neighbours' beats; what is left to do is to be in
// them:
//
//   no map, nobody to ask ──► founds the federation ──► in the map
//                                                        │     ▲
//   no map, or not in it (as it is now) ◄── removed, ────┘     │
//      │                                    restored, moved    │
//      └─► asks the site that it is told to ask, else those of its last map,
//          one after the other ── let in ──────────────────────┘
//             │
//             ├─ refused: only an administrator can help, and each call is
//             │    counted there. Again after 2 s, 4 s, ... 2 min
//             └─ unheard, or channels are moving: again after 2 s, 4 s, 5 s
//
// As the registrar it also ends a hand-off when all have done their part.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "federation/member/back_off.h"
#include "federation/member/map_follower.h"
#include "federation/member/neighbours.h"
#include "federation/member/registrar_map.h"

namespace gannet::federation {

using AskToJoin = std::function<absl::StatusOr<Map>(
    const std::string& address, const std::string& name,
    const peers::JoinRequest& request)>;

class RegistrarFollower : public MapFollower {
 public:
  // `door` is the address of the site to ask; empty: a site that has no map
  // founds a federation. `ask` is Neighbours::AskToJoin(). `is_handed_off`:
  // every site has done its part of that map's hand-off. All must outlive this.
  RegistrarFollower(const OwnSite& own, Losses& losses, std::string door,
                    AskToJoin ask, RegistrarMap& registrar,
                    Neighbours& neighbours,
                    std::function<bool(const MapView&)> is_handed_off)
      : MapFollower(own, losses),
        door_(std::move(door)),
        ask_(std::move(ask)),
        registrar_(registrar),
        neighbours_(neighbours),
        is_handed_off_(std::move(is_handed_off)) {}

  std::string Step() override;
  absl::StatusOr<Map> Change(const MapChange& change) override {
    return ChangeMap(registrar_, change);
  }
  absl::StatusOr<Map> Join(const std::string& address) override;
  absl::StatusOr<Map> Adopt() override;

 private:
  static constexpr absl::Duration kFirst = absl::Seconds(2);
  static constexpr absl::Duration kLongestRefused = absl::Minutes(2);
  static constexpr absl::Duration kLongestUnheard = absl::Seconds(5);

  absl::Status Found();
  absl::Status Ask(const std::string& address);
  void FinishHandOffIfDone(const MapView& view);
  std::string WhyNotIn(const absl::Status& refused) const;

  const std::string door_;
  const AskToJoin ask_;
  RegistrarMap& registrar_;
  Neighbours& neighbours_;
  const std::function<bool(const MapView&)> is_handed_off_;

  // Step()'s own.
  absl::Time next_ = absl::InfinitePast();  // Steady: not asked before.
  BackOff refused_{kFirst, kLongestRefused};
  BackOff unheard_{kFirst, kLongestUnheard};
  std::string why_not_in_;  // As it was told when it last asked.
};

}  // namespace gannet::federation
