#include "sites/dashboard/metrics.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "absl/time/clock.h"

namespace gannet::sites {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricsTest, CountersComeFromTheAgentsLifetime) {
  admin::Status status;
  admin::AgentStatus& agent = *status.mutable_agent();
  agent.set_version("1.2.3");
  auto& outcomes = *agent.mutable_lifetime()->mutable_outcomes();
  outcomes.set_fetched(12345678901);
  outcomes.set_unchanged(5);
  outcomes.set_failed(7);
  agent.mutable_lifetime()->set_bytes(99);
  (*agent.mutable_lifetime()->mutable_phase_seconds())["fetch"] = 1.5;
  (*agent.mutable_rounds_by_result())["ok"] = 3;
  (*agent.mutable_lifetime()->mutable_failures())["tls_expired"] = 6;
  // A kind of failure of another version.
  (*agent.mutable_lifetime()->mutable_failures())["of_old"] = 1;
  agent.mutable_lifetime()->set_held_back_seconds(2.5);
  agent.mutable_progress()->set_lag_seconds(0.25);
  agent.mutable_progress()->set_max_lag_seconds(1.5);
  const std::string text = MetricsText(status, {}, {{200, 4}});
  EXPECT_THAT(text, HasSubstr("gannet_build_info{version=\"1.2.3\"} 1\n"));
  EXPECT_THAT(
      text, HasSubstr("gannet_fetches_total{outcome=\"fetched\"} 12345678901"));
  EXPECT_THAT(text, HasSubstr("gannet_fetches_total{outcome=\"gone\"} 0\n"));
  const auto failures = [&](std::string_view kind, int count) {
    EXPECT_THAT(text, HasSubstr(fmt::format(
                          "gannet_fetch_failures_total{{kind=\"{}\"}} {}\n",
                          kind, count)));
  };
  failures("tls_expired", 6);
  failures("of_old", 1);
  // All kinds are there at 0, so that the first failure of one is an increase.
  failures("connect_refused", 0);
  failures("http_5xx", 0);
  // Except shortages of this machine, for which no page fails.
  EXPECT_THAT(text, Not(HasSubstr("kind=\"no_socket\"")));
  EXPECT_THAT(text,
              HasSubstr("gannet_connections_held_back_seconds_total 2.5\n"));
  EXPECT_THAT(text, HasSubstr("gannet_network_lag_seconds 0.25\n"));
  EXPECT_THAT(text, HasSubstr("gannet_network_max_lag_seconds 1.5\n"));
  EXPECT_THAT(text, HasSubstr("gannet_fetches_unchanged_total 5\n"));
  EXPECT_THAT(text, HasSubstr("gannet_fetched_bytes_total 99\n"));
  EXPECT_THAT(text,
              HasSubstr("gannet_phase_seconds_total{phase=\"fetch\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("gannet_rounds_total{result=\"ok\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("gannet_rounds_total{result=\"failed\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("gannet_http_requests_total{code=\"200\"} 4\n"));
}

TEST(MetricsTest, AFederationIsSeenFromThisSite) {
  admin::Federation federation;
  EXPECT_THAT(MetricsText({}, {}, {}, federation),
              Not(HasSubstr("gannet_federation")));
  admin::FederationState& state = *federation.mutable_federation();
  state.set_self("tokyo");
  state.set_error("not invited");
  std::string text = MetricsText({}, {}, {}, federation);
  EXPECT_THAT(text, HasSubstr("gannet_federation_joined 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("gannet_site_up")));

  state.set_epoch(7);
  state.set_registrar("lima");
  state.set_refused_calls(3);
  state.set_refused_handshakes(4);
  state.set_cut_streams(6);
  state.mutable_handing_off()->set_pages_left(12);
  admin::FederationSite& self = *state.add_sites();
  self.set_name("tokyo");
  self.set_is_self(true);
  admin::FederationSite& lima = *state.add_sites();
  lima.set_name("lima");
  lima.set_state("member");
  lima.set_sent_urls(5);
  lima.set_sent_bytes(70);
  lima.set_sent_pages(2);
  lima.set_sent_page_bytes(400);
  lima.set_received_page_bytes(900);
  state.set_exchange("cash");
  admin::FederationSite& oslo = *state.add_sites();
  oslo.set_name("oslo");
  oslo.set_state("invited");
  text = MetricsText({}, {}, {}, federation);
  EXPECT_THAT(text, HasSubstr("gannet_federation_joined 1\n"));
  EXPECT_THAT(text, HasSubstr("gannet_federation_epoch 7\n"));
  EXPECT_THAT(text, HasSubstr("gannet_federation_registrar_up 0\n"));
  EXPECT_THAT(text, HasSubstr("gannet_hand_off_running 1\n"));
  EXPECT_THAT(text, HasSubstr("gannet_hand_off_pages 12\n"));
  EXPECT_THAT(text, HasSubstr("gannet_peer_calls_refused_total 3\n"));
  EXPECT_THAT(text, HasSubstr("gannet_peer_handshakes_refused_total 4\n"));
  EXPECT_THAT(text, HasSubstr("gannet_exchange_streams_cut_total 6\n"));
  EXPECT_THAT(text, HasSubstr("gannet_site_up{site=\"lima\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("gannet_exchange_urls_total{direction=\"sent\","
                              "site=\"lima\"} 5\n"));
  // Bytes are counted by mode, and those of moved pages apart, so that bytes
  // per URL can be computed.
  EXPECT_THAT(text, HasSubstr("gannet_exchange_bytes_total{direction=\"sent\","
                              "mode=\"cash\",site=\"lima\"} 70\n"));
  EXPECT_THAT(text, HasSubstr("gannet_exchange_bytes_total{direction=\"sent\","
                              "mode=\"pages\",site=\"lima\"} 400\n"));
  EXPECT_THAT(text,
              HasSubstr("gannet_exchange_bytes_total{direction=\"received\","
                        "mode=\"cash\",site=\"lima\"} 0\n"));
  EXPECT_THAT(text,
              HasSubstr("gannet_exchange_bytes_total{direction=\"received\","
                        "mode=\"pages\",site=\"lima\"} 900\n"));
  EXPECT_THAT(text, HasSubstr("gannet_exchange_pages_total{direction=\"sent\","
                              "site=\"lima\"} 2\n"));
  // All pages have moved, but one site has not said so: the hand-off still
  // runs.
  state.mutable_handing_off()->set_pages_left(0);
  const std::string moved = MetricsText({}, {}, {}, federation);
  EXPECT_THAT(moved, HasSubstr("gannet_hand_off_running 1\n"));
  EXPECT_THAT(moved, HasSubstr("gannet_hand_off_pages 0\n"));
  state.clear_handing_off();
  EXPECT_THAT(MetricsText({}, {}, {}, federation),
              HasSubstr("gannet_hand_off_running 0\n"));
  // Neither this site, nor sites that are only invited.
  EXPECT_THAT(text, Not(HasSubstr("site=\"tokyo\"")));
  EXPECT_THAT(text, Not(HasSubstr("site=\"oslo\"")));
}

TEST(MetricsTest, OutboxesAreCountedBySite) {
  admin::Status status;
  EXPECT_THAT(MetricsText(status, {}, {}), Not(HasSubstr("outbox")));
  (*status.mutable_outbox())["zurich"] = 5;
  (*status.mutable_outbox())["lima"] = 0;
  const std::string text = MetricsText(status, {}, {});
  EXPECT_THAT(text, HasSubstr("# TYPE gannet_outbox_urls gauge\n"));
  EXPECT_THAT(text, HasSubstr("gannet_outbox_urls{site=\"zurich\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("gannet_outbox_urls{site=\"lima\"} 0\n"));
}

TEST(MetricsTest, UnknownValuesAreLeftOut) {
  admin::Status status;
  status.set_known(3);
  std::string text = MetricsText(status, {}, {});
  EXPECT_THAT(text, HasSubstr("gannet_known_pages 3\n"));
  EXPECT_THAT(text, Not(HasSubstr("gannet_fetches_total")));
  EXPECT_THAT(text, Not(HasSubstr("process_")));
  status.mutable_agent();
  text = MetricsText(status, {}, {});
  EXPECT_THAT(text, Not(HasSubstr("last_success_timestamp")));
  EXPECT_THAT(text, Not(HasSubstr("gannet_certificate")));
  status.mutable_agent()->mutable_last_success()->set_seconds(1700000000);
  status.mutable_agent()->mutable_certificate_expires()->set_seconds(
      1800000000);
  text = MetricsText(status, {}, {});
  EXPECT_THAT(
      text,
      HasSubstr("gannet_round_last_success_timestamp_seconds 1700000000"));
  EXPECT_THAT(
      text,
      HasSubstr("gannet_certificate_expiry_timestamp_seconds 1800000000"));
}

TEST(MetricsTest, APausedSiteWhoseRoundStillRunsIsBoth) {
  admin::Status status;
  status.mutable_agent()->mutable_rounds()->set_state("running");
  status.mutable_agent()->mutable_rounds()->set_paused(true);
  const std::string text = MetricsText(status, {}, {});
  EXPECT_THAT(text, HasSubstr("gannet_round_running 1\n"));
  EXPECT_THAT(text, HasSubstr("gannet_rounds_paused 1\n"));
}

TEST(MetricsTest, ProcessFiguresAreOfThisProcess) {
  const ProcessFigures figures = LookAtProcess();
  EXPECT_GE(figures.open_fds.value(), 3);
  EXPECT_GT(figures.max_fds.value(), figures.open_fds.value());
  EXPECT_GT(figures.resident_bytes.value(), 1 << 20);
  EXPECT_NEAR(figures.start_time_seconds.value(),
              absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()), 100);
  const double before = figures.cpu_seconds.value();
  // LookAtProcess() itself uses CPU time, so the loop ends after a tick.
  while (LookAtProcess().cpu_seconds.value() <= before) {
  }
}

}  // namespace
}  // namespace gannet::sites
