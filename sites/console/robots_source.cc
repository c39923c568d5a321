#include "sites/console/robots_source.h"

#include <fmt/format.h>

#include "jobs/fetch/host_state.h"

namespace gannet::sites {
namespace {

RobotsSource FromRecord(const admin::StoredRobots& stored,
                        const std::string& agent) {
  proto::RobotsRules rules;
  rules.set_origin(stored.origin());
  rules.set_text(stored.text());
  rules.set_http_status(stored.http_status());
  RobotsSource found{jobs::RulesFromStored(rules, agent), "host record",
                     stored.origin() + "/robots.txt", stored.http_status(), ""};
  if (found.http_status == 0) found.problem = "it could not be reached";
  return found;
}

}  // namespace

RobotsSource FindRobots(const storage::Url& url, const std::string& agent,
                        Admin* site, jobs::SingleFetch& fetch) {
  if (site != nullptr) {
    admin::GetRobotsRequest request;
    request.set_url(std::string(url.href()));
    admin::StoredRobots stored;
    if (site->GetRobots(request, stored).ok()) return FromRecord(stored, agent);
  }
  const jobs::SingleFetch::Robots robots = fetch.GetRobots(url);
  RobotsSource found{jobs::RulesFromStored(robots.stored, agent), "network",
                     robots.urls.back(), robots.stored.http_status(), ""};
  if (robots.failure != jobs::Failure::kNone) {
    found.problem =
        fmt::format("{}: {} ({})", jobs::FailureName(robots.failure),
                    jobs::FailureWords(robots.failure), robots.detail);
    found.host_failed = robots.urls.size() == 1;
  }
  return found;
}

}  // namespace gannet::sites
