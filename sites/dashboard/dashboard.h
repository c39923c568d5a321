// DashboardServer is what a site shows over HTTP (listen.http): the page at /,
// its data under /api/, metrics for Prometheus at /metrics, and /healthz for a
// supervisor that restarts hung processes. All of it reads; nothing here
// changes a site, which it sees only through its Admin. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sites/admin/admin.h"
#include "sites/dashboard/rate_history.h"
#include "storage/clock.h"

namespace gannet::sites {

class HttpServer;
class JsonApi;
class RateSampler;

struct DashboardSettings {
  std::string address;  // "127.0.0.1:7781"; port 0: any that is free.
  // By which it may be asked, beside addresses and localhost.
  std::vector<std::string> names = {};
  // What /healthz says: 200 if OK, 503 and the message otherwise. Nothing: a
  // process that answers is healthy. Called from several threads.
  std::function<absl::Status()> healthy;
  absl::Duration sample_every = absl::Seconds(10);  // For the chart.
  // What the chart begins with, oldest first; the site's counters go on from
  // there.
  std::vector<RateSample> history = {};
  // What /api/federation answers, as JSON:
  //   {"federation": {"epoch": 7, "self": "tokyo", "sites": [...], ...}}
  // (all of it: tests/sites/dashboard/demo_federation.cc). Nothing, or "": this
  // site is in none. Called from several threads.
  std::function<std::string()> federation = nullptr;
};

class DashboardServer {
 public:
  // kInvalidArgument: no address; kFailedPrecondition: cannot listen there.
  // `admin` and `clock` must outlive it.
  static absl::StatusOr<std::unique_ptr<DashboardServer>> Start(
      const DashboardSettings& settings, Admin& admin, storage::Clock& clock);
  ~DashboardServer();  // Stops.

  uint16_t port() const;

  // Answers what is being asked, then returns.
  void Stop();

 private:
  DashboardServer(const DashboardSettings& settings, Admin& admin,
                  storage::Clock& clock);
  void AddRoutes(const DashboardSettings& settings);

  Admin& admin_;
  // The server is last, so that it ends first: its threads use the others.
  std::unique_ptr<RateSampler> rates_;
  std::unique_ptr<JsonApi> api_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace gannet::sites
