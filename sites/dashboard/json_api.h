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

namespace gannet::sites {

class JsonApi {
 public:
  // Both must outlive it.
  JsonApi(Admin& admin, const RateSampler& rates);

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

  Admin& admin_;
  const RateSampler& rates_;
  CachedAnswer status_;
  CachedAnswer frontier_;
  CachedAnswer failing_hosts_;
  CachedAnswer slow_hosts_;
};

}  // namespace gannet::sites
