// The robots.txt that a check is judged by: the one that the site's host record
// keeps, if it is fresh, or else a new one from the network. A function.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "jobs/fetch/single_fetch.h"
#include "sites/admin/admin.h"
#include "storage/url/url.h"

namespace gannet::sites {

struct RobotsSource {
  jobs::RobotsRules rules;
  std::string source;  // "host record" or "network".
  std::string url;     // Where it came from in the end.
  uint32_t http_status = 0;
  std::string problem;  // Why it could not be had; empty: it could.
  // The host itself could not be asked: a round would fail its pages.
  bool host_failed = false;
};

// `site` may be null: there is none.
RobotsSource FindRobots(const storage::Url& url, const std::string& agent,
                        Admin* site, jobs::SingleFetch& fetch);

}  // namespace gannet::sites
