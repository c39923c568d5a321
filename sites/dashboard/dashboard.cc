#include "sites/dashboard/dashboard.h"

#include "sites/dashboard/assets.h"
#include "sites/dashboard/http_server.h"
#include "sites/dashboard/json_api.h"
#include "sites/dashboard/metrics.h"
#include "sites/dashboard/process_figures.h"
#include "sites/dashboard/rate_sampler.h"

namespace gannet::sites {
namespace {

HttpAnswer AssetAnswer(const Asset& asset) {
  HttpAnswer answer;
  answer.type = std::string(asset.type);
  answer.body = std::string(asset.bytes);
  answer.etag = std::string(asset.etag);
  return answer;
}

HttpAnswer HealthAnswer(const absl::Status& health) {
  HttpAnswer answer;
  answer.code = health.ok() ? 200 : 503;
  answer.body = health.ok() ? "ok\n" : std::string(health.message()) + "\n";
  return answer;
}

HttpAnswer MetricsAnswer(Admin& admin, const HttpServer& server) {
  HttpAnswer answer;
  admin::Status status;
  if (absl::Status got = admin.GetStatus({}, status); !got.ok()) {
    answer.code = 503;  // To Prometheus, the site is down: up is 0.
    answer.body = std::string(got.message()) + "\n";
    return answer;
  }
  answer.type = kMetricsType;
  admin::Federation federation;
  if (!admin.GetFederation({}, federation).ok()) federation.Clear();
  answer.body =
      MetricsText(status, LookAtProcess(), server.RequestsByCode(), federation);
  return answer;
}

}  // namespace

DashboardServer::DashboardServer(const DashboardSettings& settings,
                                 Admin& admin, storage::Clock& clock)
    : admin_(admin),
      rates_(std::make_unique<RateSampler>(admin, settings.sample_every,
                                           settings.history, clock)),
      api_(std::make_unique<JsonApi>(admin, *rates_, settings.federation,
                                     clock)),
      server_(std::make_unique<HttpServer>()) {}

DashboardServer::~DashboardServer() { Stop(); }

absl::StatusOr<std::unique_ptr<DashboardServer>> DashboardServer::Start(
    const DashboardSettings& settings, Admin& admin, storage::Clock& clock) {
  std::unique_ptr<DashboardServer> dashboard(
      new DashboardServer(settings, admin, clock));
  dashboard->AddRoutes(settings);
  absl::Status started =
      dashboard->server_->Start(settings.address, settings.names);
  if (!started.ok()) return started;
  return dashboard;
}

void DashboardServer::AddRoutes(const DashboardSettings& settings) {
  for (const Asset& asset : Assets()) {
    server_->AddRoute(std::string(asset.path), [&asset](const std::string&) {
      return AssetAnswer(asset);
    });
  }
  api_->AddRoutes(*server_);
  server_->AddRoute("/metrics", [this](const std::string&) {
    return MetricsAnswer(admin_, *server_);
  });
  server_->AddRoute(
      "/healthz", [healthy = settings.healthy](const std::string&) {
        return HealthAnswer(healthy ? healthy() : absl::OkStatus());
      });
}

uint16_t DashboardServer::port() const { return server_->port(); }

void DashboardServer::Stop() { server_->Stop(); }

}  // namespace gannet::sites
