#include "sites/dashboard/dashboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/time/clock.h"
#include "tests/simulated_clock.h"
#include "tests/sites/dashboard/http_client.h"
#include "tests/sites/dashboard/scripted_site.h"

namespace gannet::sites {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class DashboardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    admin_.Change([](ScriptedSite::Script& script) {
      script.status.set_site("tokyo");
      script.status.set_known(7);
      script.status.mutable_agent()->set_version("1.0");
      for (int i = 1; i <= 30; ++i) {
        script.reports.push_back("{\"round\":" + std::to_string(i) + "}");
      }
      script.hosts["failures"].add_hosts()->set_host("bad.example");
      script.hosts["slow"].add_hosts()->set_host("slow.example");
      admin::Page& page = script.pages["http://a.example/"];
      page.set_url("http://a.example/");
      page.set_title("<script>alert(1)</script>");
      page.add_outlinks("http://b.example/");
    });
    DashboardSettings settings;
    settings.address = "127.0.0.1:0";
    settings.healthy = [this] { return health_; };
    settings.federation = [this] { return federation_; };
    auto started = DashboardServer::Start(settings, admin_, clock_);
    ASSERT_TRUE(started.ok()) << started.status();
    dashboard_ = *std::move(started);
  }

  ClientAnswer Get(const std::string& path) {
    return sites::Get(dashboard_->port(), path);
  }
  Json GetJson(const std::string& path) {
    const ClientAnswer answer = Get(path);
    EXPECT_EQ(answer.code, 200) << path << " " << answer.body;
    EXPECT_EQ(answer.Header("Content-Type"), "application/json");
    return Json::parse(answer.body, nullptr, false);
  }

  absl::Status health_;
  std::string federation_;
  ScriptedSite admin_;
  SimulatedClock clock_;
  std::unique_ptr<DashboardServer> dashboard_;
};

TEST_F(DashboardTest, ThePageAndItsFilesHaveTypesAndETags) {
  const ClientAnswer page = Get("/");
  EXPECT_EQ(page.Header("Content-Type"), "text/html; charset=utf-8");
  EXPECT_THAT(page.body, HasSubstr("<!doctype html>"));
  EXPECT_EQ(page.Header("ETag").size(), 18u);
  EXPECT_EQ(Get("/dashboard.js").Header("Content-Type"),
            "text/javascript; charset=utf-8");
  EXPECT_EQ(Get("/dashboard.css").Header("Content-Type"),
            "text/css; charset=utf-8");
  EXPECT_NE(Get("/dashboard.css").Header("ETag"), page.Header("ETag"));
}

TEST_F(DashboardTest, ASiteInNoFederationSaysSo) {
  EXPECT_EQ(GetJson("/api/federation"), Json({{"federation", nullptr}}));
}

TEST_F(DashboardTest, TheFederationIsWhatTheSettingsSay) {
  federation_ = R"({"federation":{"epoch":7,"sites":[]}})";
  EXPECT_EQ(GetJson("/api/federation")["federation"]["epoch"], 7);
  EXPECT_EQ(Get("/api/federation?epoch=7").code, 400);
}

TEST_F(DashboardTest, WithoutAFunctionThereIsNoFederation) {
  DashboardSettings settings;
  settings.address = "127.0.0.1:0";
  auto plain = DashboardServer::Start(settings, admin_, clock_);
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(sites::Get((*plain)->port(), "/api/federation").body,
            "{\"federation\":null}\n");
}

TEST_F(DashboardTest, StatusIsTheAdminsWithTheTimeHere) {
  const Json status = GetJson("/api/status");
  EXPECT_EQ(status["site"], "tokyo");
  EXPECT_EQ(status["known"], 7);
  EXPECT_EQ(status["agent"]["version"], "1.0");
  EXPECT_EQ(status["now"], "2023-11-14T22:13:20.000Z");
}

TEST_F(DashboardTest, ManyRequestsAtOnceCostOneStatus) {
  for (int i = 0; i < 50; ++i) GetJson("/api/status");
  EXPECT_LE(admin_.Asked("GetStatus"), 2);  // One is the chart's.
}

TEST_F(DashboardTest, HostsAreScannedOncePerQuestionHoweverOftenAsked) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(GetJson("/api/hosts?by=failures")["hosts"][0]["host"],
              "bad.example");
    EXPECT_EQ(GetJson("/api/hosts?by=slow")["hosts"][0]["host"],
              "slow.example");
  }
  EXPECT_EQ(admin_.Asked("ListHosts"), 2);
}

TEST_F(DashboardTest, RoundsAreNewestFirst) {
  EXPECT_EQ(GetJson("/api/rounds")["rounds"].size(), 10u);
  const Json rounds = GetJson("/api/rounds?most=3")["rounds"];
  EXPECT_EQ(rounds, Json::parse(R"([{"round":30},{"round":29},{"round":28}])"));
}

TEST_F(DashboardTest, ARoundIsFoundByItsNumber) {
  EXPECT_EQ(GetJson("/api/round?number=30")["round"], 30);
  EXPECT_EQ(GetJson("/api/round?number=1")["round"], 1);
  EXPECT_EQ(Get("/api/round?number=31").code, 404);
}

TEST_F(DashboardTest, APageComesWithItsLinks) {
  const Json page = GetJson("/api/page?url=http%3A%2F%2Fa.example%2F");
  EXPECT_EQ(page["title"], "<script>alert(1)</script>");
  EXPECT_EQ(page["outlinks"][0], "http://b.example/");
  const ClientAnswer unknown = Get("/api/page?url=http://none.example/");
  EXPECT_EQ(unknown.code, 404);
  EXPECT_THAT(Json::parse(unknown.body)["error"].get<std::string>(),
              HasSubstr("none.example"));
}

TEST_F(DashboardTest, BadQueriesAreNamed) {
  for (const char* path :
       {"/api/hosts", "/api/hosts?by=pages", "/api/rounds?most=0",
        "/api/rounds?most=1001", "/api/rounds?most=x", "/api/rounds?mots=1",
        "/api/round", "/api/round?number=0", "/api/round?number=1e3",
        "/api/page", "/api/page?url=", "/api/page?url=%ff", "/api/page?url=%",
        "/api/status?x=1"}) {
    const ClientAnswer answer = Get(path);
    EXPECT_EQ(answer.code, 400) << path;
    const Json body = Json::parse(answer.body, nullptr, false);
    EXPECT_TRUE(body["error"].is_string() && body["error"] != "") << path;
  }
}

TEST_F(DashboardTest, ASiteThatCannotBeAskedIsUnavailable) {
  admin_.Change([](ScriptedSite::Script& script) {
    script.all_verbs = absl::UnavailableError("the agent does not answer");
  });
  for (const char* path : {"/api/status", "/api/rounds", "/metrics"}) {
    const ClientAnswer answer = Get(path);
    EXPECT_EQ(answer.code, 503) << path;
    EXPECT_THAT(answer.body, HasSubstr("the agent does not answer"));
  }
  EXPECT_EQ(Get("/").code, 200);
  EXPECT_EQ(Get("/healthz").code, 200);
}

TEST_F(DashboardTest, HealthIsWhatTheAgentSays) {
  EXPECT_EQ(Get("/healthz").body, "ok\n");
  health_ = absl::InternalError("no watchdog for 30 s");
  const ClientAnswer sick = Get("/healthz");
  EXPECT_EQ(sick.code, 503);
  EXPECT_EQ(sick.body, "no watchdog for 30 s\n");
}

TEST_F(DashboardTest, MetricsAreMadeOfTheStatus) {
  const ClientAnswer answer = Get("/metrics");
  EXPECT_THAT(answer.Header("Content-Type"), HasSubstr("version=0.0.4"));
  EXPECT_THAT(answer.body, HasSubstr("gannet_known_pages 7\n"));
  EXPECT_THAT(Get("/metrics").body,
              HasSubstr("gannet_http_requests_total{code=\"200\"} 1\n"));
}

TEST_F(DashboardTest, WithoutRequestsTheSiteIsNotAsked) {
  // Except once by the sampler at the start.
  EXPECT_LE(admin_.Asked("GetStatus"), 1);
  EXPECT_EQ(admin_.Asked("ListHosts") + admin_.Asked("GetFrontier") +
                admin_.Asked("ListRounds"),
            0);
}

TEST(DashboardRatesTest, AnHourIsSampledWithoutAnyoneLooking) {
  ScriptedSite admin;
  int64_t pages = 0;
  DashboardSettings settings;
  settings.address = "127.0.0.1:0";
  SimulatedClock clock;
  const auto grow = [&](ScriptedSite::Script& script) {
    script.status.mutable_agent()
        ->mutable_lifetime()
        ->mutable_outcomes()
        ->set_fetched(++pages);
  };
  admin.Change(grow);
  auto dashboard = DashboardServer::Start(settings, admin, clock);
  ASSERT_TRUE(dashboard.ok());
  const absl::Time first = clock.Now();
  for (int samples = 1; samples < 5; ++samples) {
    clock.Settle(1);
    EXPECT_EQ(admin.Asked("GetStatus"), samples);
    admin.Change(grow);
    clock.Advance(settings.sample_every);
  }
  clock.Settle(1);
  const Json rates =
      Json::parse(Get((*dashboard)->port(), "/api/rates").body, nullptr, false);
  EXPECT_EQ(rates["now"],
            absl::ToUnixMillis(first + 4 * settings.sample_every));
  ASSERT_EQ(rates["points"].size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(rates["points"][i][0],
              absl::ToUnixMillis(first + (i + 1) * settings.sample_every));
    EXPECT_EQ(rates["points"][i][1], 0.1);  // A page in ten seconds.
  }
}

TEST(DashboardStartTest, ABadAddressIsRefused) {
  ScriptedSite admin;
  DashboardSettings settings;
  settings.address = "nonsense";
  SimulatedClock clock;
  EXPECT_EQ(DashboardServer::Start(settings, admin, clock).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace gannet::sites
