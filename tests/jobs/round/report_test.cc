#include "jobs/round/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/time/clock.h"
#include "federation/map/map_changes.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::jobs {
namespace {

TEST(RoundReportTest, WhatTheRoundDidIsItsOwnAndNotOfAllTime) {
  proto::RoundJournal journal;
  journal.set_number(7);
  journal.set_opened_ms(1'700'000'000'000);
  proto::RoundCounts& counts = *journal.mutable_counts();
  counts.set_fetched(5);
  counts.set_deferred(3);
  counts.set_dropped_urls(2);
  (*counts.mutable_dropped())["over_quota"] = 40;
  (*counts.mutable_phase_us())[proto::FETCH] = 1'500'000;
  storage::Totals totals;
  totals.deferred_urls = 1000;
  totals.dropped_urls = 2000;
  totals.dropped["over_quota"] = 3000;
  totals.dropped["host_full"] = 4000;
  const auto report = nlohmann::json::parse(RoundReport(
      journal, totals, absl::FromUnixSeconds(1'700'000'060), false));
  EXPECT_EQ(report["round"], 7);
  EXPECT_EQ(report["seconds"], 60);
  EXPECT_EQ(report["fetched"], 5);
  EXPECT_EQ(report["deferred"], 3);
  EXPECT_EQ(report["waiting"], 1000);
  EXPECT_EQ(report["dropped_urls"], 2);
  EXPECT_EQ(report["dropped"], nlohmann::json({{"over_quota", 40}}));
  EXPECT_EQ(
      report["phase_seconds"],
      nlohmann::json(
          {{"generate", 0}, {"fetch", 1.5}, {"update", 0}, {"exchange", 0}}));
}

TEST(RoundReportTest, ARoundThatDroppedNothingSaysSo) {
  const auto report = nlohmann::json::parse(
      RoundReport({}, {}, absl::FromUnixSeconds(1'700'000'060), true));
  EXPECT_EQ(report["dropped"], nlohmann::json::object());
  EXPECT_EQ(report["resumed"], true);
}

// The report of a site of a federation has counts and bytes of its exchange
// mode.
class ReportOfAFederationTest : public testing::Test {
 protected:
  static std::shared_ptr<const federation::MapView> Map(
      proto::ExchangeMode mode) {
    proto::MapRules rules;
    rules.set_exchange(mode);
    federation::Applicant tokyo;
    tokyo.name = "tokyo";
    tokyo.incarnation = 1;
    tokyo.address = "127.0.0.1:7701";
    tokyo.rules = rules;
    federation::Applicant lima = tokyo;
    lima.name = "lima";
    federation::Map map =
        federation::FoundFederation(tokyo, 9, {}, true).value();
    map =
        federation::Join(federation::Invite(map, "lima").value(), lima).value();
    return federation::MapView::Create(map, "tokyo").value();
  }
  nlohmann::json Exchange(proto::ExchangeMode mode) {
    return nlohmann::json::parse(
        RoundReport(journal_, {}, absl::FromUnixSeconds(1'700'000'060), false,
                    {.map = Map(mode),
                     .bytes_sent = {.urls = 1234, .pages = 56}}))["exchange"];
  }

  proto::RoundJournal journal_;
};

TEST_F(ReportOfAFederationTest, WhatWentToOthersIsThereByTheirNames) {
  proto::RoundCounts& counts = *journal_.mutable_counts();
  counts.set_sent(7);
  (*counts.mutable_sent_to())[2] = 6;
  (*counts.mutable_sent_to())[77] = 3;  // A site that has left.
  counts.set_sent_cash(5000);
  counts.set_sent_before(11);
  (*counts.mutable_dropped())[storage::kSentBefore] = 900;
  (*counts.mutable_dropped())["over_quota"] = 40;
  EXPECT_EQ(Exchange(proto::EXCHANGE_URLS),
            nlohmann::json({{"mode", "urls"},
                            {"sent", 7},
                            {"sent_to", {{"lima", 6}, {"77", 3}}},
                            {"sent_cash", 5000},
                            {"sent_before", 11},
                            {"gained_cash", 0},
                            {"dropped_cash", 900},
                            {"bytes", {{"urls", 1234}, {"pages", 56}}}}));
}

TEST_F(ReportOfAFederationTest, BytesAreOfTheModeInWhichTheyWent) {
  journal_.mutable_counts()->set_gained_cash(70);
  const nlohmann::json exchange = Exchange(proto::EXCHANGE_CASH);
  EXPECT_EQ(exchange["mode"], "cash");
  EXPECT_EQ(exchange["gained_cash"], 70);
  EXPECT_EQ(exchange["sent_to"], nlohmann::json::object());
  EXPECT_EQ(exchange["bytes"], nlohmann::json({{"cash", 1234}, {"pages", 56}}));
}

TEST(RoundReportTest, ASiteInNoFederationSaysNothingOfOne) {
  EXPECT_FALSE(nlohmann::json::parse(RoundReport({}, {}, absl::Now(), false))
                   .contains("exchange"));
}

}  // namespace
}  // namespace gannet::jobs
