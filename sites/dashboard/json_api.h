// JsonApi is what the dashboard's page asks for: an Admin's answers as JSON,
// with the costly ones kept for a while. Reading only. The keys are those of
// proto/admin.proto. Thread-safe.
//
//   /api/status                     the site and its agent, and the time here
//   /api/rates                      an hour of pages and bytes a second
//   /api/frontier                   by depth and by score
//   /api/hosts?by=failures|slow     the worst ten
//   /api/rounds?most=N              the last reports, newest first
//   /api/round?number=N             one report
//   /api/page?url=U                 a page's record and outlinks
//   /api/federation                 the federation, as this site sees it
//
// An answer other than 200 has {"error": why}; 202 is {"pending": true}: still
// being found out, ask again soon.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "sites/admin/admin.h"
#include "sites/dashboard/cached_answer.h"
#include "sites/dashboard/http_server.h"
#include "sites/dashboard/query.h"
#include "sites/dashboard/rate_sampler.h"
#include "storage/clock.h"

namespace gannet::sites {

class JsonApi {
 public:
  // What /api/federation answers, as JSON; "" in a site that is in none. Called
  // from several threads, but not at the same time.
  using FederationJson = std::function<std::string()>;

  // All references must outlive it; `federation` may be empty.
  JsonApi(Admin& admin, const RateSampler& rates, FederationJson federation,
          storage::Clock& clock);

  // REQUIRES: `server` is not started, and stops before this ends.
  void AddRoutes(HttpServer& server);

 private:
  using Text = absl::StatusOr<std::string>;

  Text Status();
  Text Rates();
  Text Frontier();
  Text Hosts(const std::string& by);
  Text Rounds(const Query& query);
  Text Round(const Query& query);
  Text Page(const Query& query);
  Text Federation();

  Admin& admin_;
  const RateSampler& rates_;
  const FederationJson federation_json_;
  storage::Clock& clock_;
  CachedAnswer status_;
  CachedAnswer frontier_;
  CachedAnswer failing_hosts_;
  CachedAnswer slow_hosts_;
  CachedAnswer federation_;
};

}  // namespace gannet::sites
