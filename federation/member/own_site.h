// OwnSite is what most parts of a membership use of the site that they are part
// of. It only refers to these things, which Membership owns and which outlive
// the parts; each is thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "federation/map/map_changes.h"
#include "federation/map/map_holder.h"
#include "federation/member/own_life.h"
#include "storage/clock.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::federation {

// Writes a line to the log: what happened, and to whom. Thread-safe, not null.
using NoteEvent = std::function<void(
    std::string_view event,
    const std::vector<std::pair<std::string, std::string>>& fields)>;

struct OwnSite {
  const Applicant& self;  // But for the incarnation, which `life` knows.
  storage::CrawlDb& crawl_db;
  MapHolder& maps;
  OwnLife& life;
  storage::Clock& clock;
  const NoteEvent& note;

  absl::StatusOr<peers::Greeting> Greeting() const {
    return life.Greeting(maps);
  }
  // Whether the map has this site, in the life that it has now.
  bool IsIn(const MapView& view) const {
    return view.self() != nullptr &&
           view.self()->incarnation() == life.incarnation();
  }
  // As it asks to be let in.
  Applicant AsApplicant() const {
    Applicant applicant = self;
    applicant.incarnation = life.incarnation();
    return applicant;
  }
};

}  // namespace gannet::federation
