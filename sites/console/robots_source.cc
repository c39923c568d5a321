#include "sites/console/robots_source.h"

#include <fmt/format.h>

#include "absl/time/clock.h"
#include "jobs/fetch/host_state.h"
#include "jobs/fetch/robots_answer.h"

namespace gannet::sites {
namespace {

RobotsSource FromRecord(const proto::RobotsRules& stored,
                        const std::string& agent) {
  RobotsSource found{jobs::RulesFromStored(stored, agent), "host record",
                     stored.origin() + "/robots.txt", stored.http_status(), ""};
  if (found.http_status == 0) found.problem = "it could not be reached";
  return found;
}

}  // namespace

RobotsSource FindRobots(const storage::Url& url, const std::string& agent,
                        storage::SiteStore* store, jobs::SingleFetch& fetch) {
  if (store != nullptr) {
    const storage::PageKey page = storage::PageKeyOf(url);
    const auto record = store->crawl_db().GetHost(
        storage::HostKey{std::string(storage::HostPartOf(page.bytes))});
    if (record.ok()) {
      for (const proto::RobotsRules& stored : record->robots()) {
        if (stored.origin() == jobs::OriginOf(url) &&
            stored.expires_ms() > storage::ToMillis(absl::Now())) {
          return FromRecord(stored, agent);
        }
      }
    }
  }
  const jobs::SingleFetch::Robots robots = fetch.GetRobots(url);
  RobotsSource found{jobs::RulesFromStored(robots.stored, agent), "network",
                     robots.urls.back(), robots.stored.http_status(), ""};
  if (robots.failure != jobs::Failure::kNone) {
    found.problem =
        fmt::format("{}: {}", jobs::FailureName(robots.failure), robots.detail);
    found.host_failed = robots.urls.size() == 1;
  }
  return found;
}

}  // namespace gannet::sites
