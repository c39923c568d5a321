#include "jobs/round/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

}  // namespace
}  // namespace gannet::jobs
