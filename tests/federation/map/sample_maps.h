// Small federations for tests: tokyo founds one, paris joins it. Functions
// only.
#pragma once

#include <string>

#include "federation/map/map_changes.h"

namespace gannet::federation {

inline Applicant From(const std::string& name) {
  Applicant applicant;
  applicant.name = name;
  applicant.incarnation = 7;
  applicant.address = "127.0.0.1:7701";
  return applicant;
}

inline Map WithMember(const Map& map, const std::string& name) {
  return Join(Invite(map, name).value(), From(name)).value();
}

inline Map Founded(uint64_t federation = 99) {
  return FoundFederation(From("tokyo"), federation, {}, true).value();
}

// Paris has joined, and channels are still moving to it.
inline Map WithParis() { return WithMember(Founded(), "paris"); }

}  // namespace gannet::federation
