// DemoSite is a ScriptedSite that looks like a busy site: its round goes on,
// its counters grow, and a driver makes it paused, broken or new. Its texts
// from the web are as hostile as possible. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sites/dashboard/rate_history.h"
#include "tests/sites/dashboard/scripted_site.h"

namespace gannet::sites {

class DemoSite {
 public:
  explicit DemoSite(absl::Time now);

  ScriptedSite& admin() { return admin_; }

  // Samples of the hour before, up to the counters that the site begins with.
  std::vector<RateSample> History() const;

  // Lets the site crawl up to `now`.
  void Advance(absl::Time now);

  // A line of the driver: "pause", "wait", "run", "fail TEXT", "unreachable",
  // "answer", "update", "end", "empty", "known N". False: no such command.
  bool Do(const std::string& command, absl::Time now);

 private:
  void EndRound(ScriptedSite::Script& script, absl::Time now);

  const absl::Time started_;
  absl::Time last_;
  double owed_pages_ = 0;
  ScriptedSite admin_;
};

}  // namespace gannet::sites
