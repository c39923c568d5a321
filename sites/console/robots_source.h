// The robots.txt that a check is judged by: the one that the site's host record
// keeps, if it is fresh, or else a new one from the network. A function.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "jobs/fetch/single_fetch.h"
#include "storage/site_store/site_store.h"
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

// `store` may be null: no site.
RobotsSource FindRobots(const storage::Url& url, const std::string& agent,
                        storage::SiteStore* store, jobs::SingleFetch& fetch);

}  // namespace gannet::sites
