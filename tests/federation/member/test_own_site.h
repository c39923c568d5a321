// A site of a federation without threads, network or other sites, in simulated
// time: what the parts of a membership are given.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "federation/member/own_site.h"
#include "tests/simulated_clock.h"
#include "tests/temporary_folder.h"

namespace gannet::federation {

class TestOwnSite {
 public:
  explicit TestOwnSite(const std::string& name)
      : maps(
            name, [](const Map&) { return absl::OkStatus(); }, clock) {
    self.name = name;
    self.address = "127.0.0.1:7701";
    proto::SiteIdentity identity;
    identity.set_name(name);
    identity.set_incarnation(kFirstLife);
    EXPECT_TRUE(db->records().SetIdentity(identity).ok());
  }

  OwnSite own() { return {self, *db, maps, life, clock, note}; }
  // As another site would be let in.
  static Applicant Other(const std::string& name) {
    Applicant other;
    other.name = name;
    other.incarnation = 7;
    other.address = name + ".example:7701";
    return other;
  }

  static constexpr uint64_t kFirstLife = 1;
  TemporaryFolder folder;
  Applicant self;
  SimulatedClock clock;
  const std::unique_ptr<storage::CrawlDb> db = [this] {
    storage::CrawlDbSettings settings;
    settings.folder = folder.path();
    return storage::CrawlDb::Open(settings).value();
  }();
  OwnLife life{*db, kFirstLife};
  MapHolder maps;
  std::map<std::string, int> noted;  // How often, by event.
  const NoteEvent note = [this](std::string_view event, const auto&) {
    ++noted[std::string(event)];
  };
};

}  // namespace gannet::federation
