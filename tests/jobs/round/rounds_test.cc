// How runs begin, end and are interrupted; whole crawls are in crawl_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/time/clock.h"
#include "tests/jobs/round/fake_crawl.h"

namespace gannet::jobs {
namespace {

using testing::HasSubstr;

// The record of the page's host, which rests until `until`.
storage::HostUpdate RestOf(const storage::PageKey& page, absl::Time until) {
  storage::HostUpdate update{{std::string(storage::HostPartOf(page.bytes))},
                             {}};
  update.record.set_rest_until_ms(storage::ToMillis(until));
  return update;
}

// All pages of the web are seeds, so that one round has them all.
void InjectAll(FakeCrawl& crawl) {
  for (const auto& [url, state] : crawl.TrueStates()) {
    ASSERT_TRUE(crawl.Inject(url).ok());
  }
}

// Claims all pages of the frontier for a round that fetches.
std::vector<storage::PageKey> OpenRound(storage::CrawlDb& db) {
  EXPECT_TRUE(db.round().Open(absl::Now()).ok());
  EXPECT_TRUE(db.frontier().Claim(db.frontier().Top(1000, 1000).value()).ok());
  EXPECT_TRUE(db.round().PayRoot().ok());
  EXPECT_TRUE(db.round().SetPhase(proto::FETCH).ok());
  return db.round().FetchList({}, 1000).value();
}

TEST(RoundsTest, OnANearlyFullDiskNoRoundBeginsButAFinishedCrawlIsFinished) {
  FakeCrawl crawl({.hosts = 2, .pages = 4});
  ASSERT_TRUE(crawl.InjectSeeds().ok());
  crawl.settings().data_folder = "/";
  crawl.settings().min_free = std::numeric_limits<uint64_t>::max();
  EXPECT_TRUE(absl::IsResourceExhausted(crawl.Crawl()));
  EXPECT_EQ(crawl.store().crawl_db().round().journal().number(), 0u);
  crawl.settings().min_free = 0;
  ASSERT_TRUE(crawl.Crawl().ok());
  crawl.settings().min_free = std::numeric_limits<uint64_t>::max();
  const absl::Status status = crawl.Crawl();
  EXPECT_TRUE(status.ok()) << status;
}

// There is no memory for any answer, so robots.txt cannot be asked for.
TEST(RoundsTest, ARobotsTxtThatThisMachineCannotAskForEndsTheHostsRound) {
  FakeCrawl crawl({.hosts = 2, .pages = 4});
  ASSERT_TRUE(crawl.InjectSeeds().ok());
  const int64_t frontier = crawl.store().crawl_db().totals().frontier_pages;
  crawl.settings().fetch.fetch.download.memory = 0;
  crawl.settings().time_limit = absl::Minutes(1);
  const absl::Time started = absl::Now();
  (void)crawl.Crawl(/*rounds=*/1);
  EXPECT_LT(absl::Now() - started, absl::Seconds(30));
  // No page failed for that.
  EXPECT_EQ(crawl.store().crawl_db().totals().frontier_pages, frontier);
  for (const auto& [url, state] : crawl.States()) EXPECT_EQ(state, "new");
  EXPECT_LE(crawl.server().served().requests,
            10u * static_cast<uint64_t>(frontier));
}

TEST(RoundsTest, ACaFileThatBreaksIsReportedOncePerRound) {
  FakeCrawl crawl({.hosts = 2, .pages = 8});
  ASSERT_TRUE(crawl.InjectSeeds().ok());
  std::vector<std::string> notices;
  crawl.settings().notice = [&](const std::string& notice) {
    notices.push_back(notice);
  };
  ASSERT_TRUE(crawl.Crawl(/*rounds=*/1).ok());
  EXPECT_TRUE(notices.empty());
  std::ofstream(crawl.settings().fetch.fetch.download.ca_file) << "half of";
  ASSERT_TRUE(crawl.Crawl(/*rounds=*/1).ok());
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_THAT(notices[0], HasSubstr("no certificates that can be read"));
}

// The source address is not one of this machine's, so no connection gets a
// socket.
TEST(RoundsTest, TimeHeldBackIsSeenWhileItPassesAndIsCountedOnce) {
  FakeCrawl crawl({.hosts = 40, .pages = 80});
  InjectAll(crawl);
  crawl.settings().fetch.fetch.download.source_address = "192.0.2.1";
  Rounds rounds(crawl.settings(), &crawl.store(), storage::SystemClock());
  const absl::Time started = absl::Now();
  std::thread runs([&] { (void)rounds.RunOne(crawl.stop); });
  absl::Duration seen;
  bool was_seen_while_fetching = false;
  // It never shrinks, not even when the fetch phase ends.
  while (absl::Now() < started + absl::Seconds(3)) {
    const absl::Duration now = rounds.lifetime().held_back;
    EXPECT_GE(now, seen);
    seen = now;
    const ProgressView view = rounds.view();
    was_seen_while_fetching |= !crawl.stop && view.phase == proto::FETCH &&
                               view.held_back > absl::ZeroDuration() &&
                               now > absl::ZeroDuration();
    if (absl::Now() > started + absl::Seconds(2)) crawl.stop = true;
    absl::SleepFor(absl::Microseconds(100));
  }
  runs.join();
  EXPECT_TRUE(was_seen_while_fetching);
  EXPECT_GE(rounds.lifetime().held_back, seen);
  EXPECT_LE(rounds.lifetime().held_back, absl::Now() - started);
  EXPECT_EQ(rounds.lifetime().held_back, rounds.summary().held_back);
  EXPECT_EQ(crawl.store().crawl_db().round().journal().counts().held_back_us(),
            absl::ToInt64Microseconds(rounds.summary().held_back));
  // The pages stay in the round.
  EXPECT_EQ(crawl.store().crawl_db().round().journal().phase(), proto::FETCH);
  EXPECT_EQ(crawl.store().crawl_db().round().journal().counts().released(), 0);
}

// The machine's clock is set back all the time.
class SetBackClock : public storage::Clock {
 public:
  absl::Time Now() const override {
    return began_ - 10 * (clock_.SteadyNow() - began_);
  }
  absl::Time SteadyNow() const override { return clock_.SteadyNow(); }
  void WaitUntil(storage::Condition& changed, storage::Mutex* mu,
                 absl::Time until) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    clock_.WaitUntil(changed, mu, until);
  }
  void SleepFor(absl::Duration time) override { clock_.SleepFor(time); }

 private:
  storage::Clock& clock_ = storage::SystemClock();
  const absl::Time began_ = clock_.SteadyNow();
};

TEST(RoundsTest, ARoundTakesItsTimeAlsoWhenTheMachinesClockIsSetBack) {
  FakeCrawl crawl({.hosts = 2, .pages = 4});
  ASSERT_TRUE(crawl.InjectSeeds().ok());
  SetBackClock clock;
  Rounds rounds(crawl.settings(), &crawl.store(), clock);
  ASSERT_TRUE(rounds.RunMany(1, absl::ZeroDuration(), crawl.stop).ok());
  const RunSummary summary = rounds.summary();
  EXPECT_EQ(summary.rounds, 1);
  EXPECT_GT(summary.counts.completed(), 0);
  EXPECT_GT(summary.elapsed, absl::ZeroDuration());
  EXPECT_GT(summary.phase_seconds.at("fetch"), 0);
  EXPECT_GT(summary.phase_seconds.at("update"), 0);
}

TEST(RoundsTest, RoundsThatOnlyGiveTheirPagesBackEndWithWhatToLookAt) {
  FakeCrawl crawl({.hosts = 2, .pages = 4});
  ASSERT_TRUE(crawl.InjectSeeds().ok());
  const int64_t frontier = crawl.store().crawl_db().totals().frontier_pages;
  crawl.settings().fetch.fetch.delay = absl::Seconds(2);
  crawl.settings().time_limit = absl::Milliseconds(50);
  Rounds rounds(crawl.settings(), &crawl.store(), storage::SystemClock());
  const absl::Status status =
      rounds.RunMany(std::nullopt, absl::Minutes(1), crawl.stop);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  for (const char* setting :
       {"crawl.time_limit", "fetch.delay", "fetch.max_crawl_delay"}) {
    EXPECT_THAT(status.message(), HasSubstr(setting));
  }
  EXPECT_EQ(rounds.summary().rounds, 2);
  EXPECT_EQ(rounds.summary().counts.completed(), 0);
  EXPECT_EQ(crawl.store().crawl_db().totals().frontier_pages, frontier);
}

// A round that gives its pages back because their host rests is no reason to
// give up: they come back when it wakes. Here one round is such; then two that
// fetch nothing for another reason end the run.
TEST(RoundsTest, ARoundWhosePagesWaitForARestDoesNotCountAsFruitless) {
  FakeCrawl crawl({.hosts = 1, .pages = 4});
  ASSERT_TRUE(crawl.InjectSeeds().ok());
  storage::CrawlDb& db = crawl.store().crawl_db();
  const std::vector<storage::PageKey> pages = OpenRound(db);
  const absl::Time awake = absl::Now() + absl::Milliseconds(500);
  ASSERT_TRUE(db.round().Complete({}, {RestOf(pages.front(), awake)}, {}).ok());
  ASSERT_TRUE(db.frontier().Release(pages).ok());
  ASSERT_TRUE(db.round().SetPhase(proto::UPDATE).ok());

  crawl.settings().fetch.fetch.delay = absl::Seconds(2);
  crawl.settings().time_limit = absl::Milliseconds(50);
  Rounds rounds(crawl.settings(), &crawl.store(), storage::SystemClock());
  const absl::Status status =
      rounds.RunMany(std::nullopt, absl::Minutes(1), crawl.stop);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(rounds.summary().rounds, 3);
  EXPECT_GE(absl::Now(), awake);
}

TEST(RoundsTest, ACrawlWhoseHostsAreBusyWaitsForThemToTheEnd) {
  FakeCrawl crawl({.hosts = 3,
                   .pages = 30,
                   .nasty = fake_web::ParseNasty("busy-503,busy-429").value(),
                   .retry_after_seconds = 1});
  // Within a round it does not wait for a resting host.
  crawl.settings().fetch.fetch.patience = absl::ZeroDuration();
  ASSERT_TRUE(crawl.InjectSeeds().ok());
  Rounds rounds(crawl.settings(), &crawl.store(), storage::SystemClock());
  const absl::Status status =
      rounds.RunMany(std::nullopt, absl::Minutes(1), crawl.stop);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_GT(rounds.summary().counts.released, 0);
  EXPECT_EQ(Differences(crawl.States(), crawl.TrueStates()), "");
}

TEST(RoundsTest, ARestThatHoldsNoPageIsNotWaitedFor) {
  FakeCrawl crawl({.hosts = 2, .pages = 4});
  ASSERT_TRUE(crawl.InjectSeeds().ok());
  storage::CrawlDb& db = crawl.store().crawl_db();
  const storage::PageKey seed = db.frontier().Top(1, 1)->pages.front().page;
  ASSERT_TRUE(crawl.Crawl().ok());
  const absl::Time begun = absl::Now();
  ASSERT_TRUE(
      db.records().PutHost(RestOf(seed, begun + absl::Seconds(50))).ok());
  ASSERT_TRUE(crawl.Crawl().ok());
  EXPECT_LT(absl::Now() - begun, absl::Seconds(25));
}

TEST(RoundsTest, InterruptedRunsCountEachPageOnceAndTheReportHasThemAll) {
  FakeCrawl crawl({.hosts = 5, .pages = 200, .largest_host = 50});
  InjectAll(crawl);
  storage::CrawlDb& db = crawl.store().crawl_db();
  Rounds first(crawl.settings(), &crawl.store(), storage::SystemClock());
  std::thread stopper([&] {
    while (first.view().counts.completed() < 20) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    crawl.stop = true;
  });
  const absl::Status status =
      first.RunMany(std::nullopt, absl::ZeroDuration(), crawl.stop);
  stopper.join();
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("stopped while fetching"));
  EXPECT_THAT(
      status.message(),
      HasSubstr("nothing is lost, and the next 'gannet round' goes on"));
  EXPECT_EQ(first.summary().rounds, 0);
  const int64_t done = first.summary().counts.fetched;
  EXPECT_GE(first.summary().counts.completed(), 20);
  EXPECT_EQ(done, db.round().journal().counts().fetched());
  EXPECT_GT(first.summary().bytes, 0);

  crawl.stop = false;
  Rounds second(crawl.settings(), &crawl.store(), storage::SystemClock());
  ASSERT_TRUE(second.RunMany(1, absl::ZeroDuration(), crawl.stop).ok());
  EXPECT_EQ(second.summary().rounds, 1);
  EXPECT_EQ(done + second.summary().counts.fetched,
            db.totals().pages_by_state[proto::FETCHED]);
  const auto report = nlohmann::json::parse(db.round().Report(1).value());
  EXPECT_EQ(report["resumed"], true);
  EXPECT_EQ(report["fetched"], done + second.summary().counts.fetched);
  EXPECT_EQ(report["bytes"], first.summary().bytes + second.summary().bytes);
  for (const char* phase : {"generate", "fetch", "update"}) {
    EXPECT_NEAR(report["phase_seconds"][phase].get<double>(),
                first.summary().phase_seconds.at(phase) +
                    second.summary().phase_seconds.at(phase),
                1e-4)
        << phase;
  }
}

TEST(RoundsTest, StoppedWhileUpdatingItSaysThatNothingIsLost) {
  FakeCrawl crawl({.hosts = 1, .pages = 4});
  ASSERT_TRUE(crawl.InjectSeeds().ok());
  storage::CrawlDb& db = crawl.store().crawl_db();
  const std::vector<storage::PageKey> pages = OpenRound(db);
  storage::Completion done;
  done.page = pages.front();
  done.outcome.set_state(proto::FETCHED);
  done.outcome.set_finished_reason("for the test");
  done.outlinks = {storage::PageKeyOf(
      storage::Url::Parse("http://elsewhere.example/").value())};
  ASSERT_TRUE(db.round().Complete({done}, {}, {}).ok());
  ASSERT_TRUE(db.frontier().Release(pages).ok());
  ASSERT_TRUE(db.round().SetPhase(proto::UPDATE).ok());
  crawl.stop = true;
  Rounds rounds(crawl.settings(), &crawl.store(), storage::SystemClock());
  const absl::Status status = rounds.RunOne(crawl.stop).status();
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("stopped while updating"));
  EXPECT_THAT(
      status.message(),
      HasSubstr("nothing is lost, and the next 'gannet round' goes on"));
  EXPECT_EQ(rounds.summary().counts.completed(), 0);  // Another run's.
}

TEST(RoundsTest, WhatALifetimeCountsOnlyGrowsAndEndsAtTheSummary) {
  FakeCrawl crawl({.hosts = 4, .pages = 200});
  ASSERT_TRUE(crawl.InjectSeeds().ok());
  crawl.settings().generate.width = 20;
  Rounds rounds(crawl.settings(), &crawl.store(), storage::SystemClock());
  std::atomic<bool> ended = false;
  int64_t seen_within_rounds = 0;
  std::thread watcher([&] {
    RunSummary last = rounds.lifetime();
    while (!ended) {
      const RunSummary now = rounds.lifetime();
      EXPECT_GE(now.rounds, last.rounds);
      EXPECT_GE(now.counts.completed(), last.counts.completed());
      EXPECT_GE(now.counts.fetched, last.counts.fetched);
      EXPECT_GE(now.bytes, last.bytes);
      for (const auto& [phase, seconds] : last.phase_seconds) {
        EXPECT_GE(now.phase_seconds.at(phase), seconds);
      }
      const RunSummary done = rounds.summary();
      if (now.counts.completed() > done.counts.completed()) {
        ++seen_within_rounds;
      }
      last = now;
    }
  });
  const absl::Status status =
      rounds.RunMany(std::nullopt, absl::ZeroDuration(), crawl.stop);
  ended = true;
  watcher.join();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_GT(seen_within_rounds, 0);
  const RunSummary summary = rounds.summary();
  const RunSummary lifetime = rounds.lifetime();
  EXPECT_GT(summary.rounds, 3);
  EXPECT_EQ(lifetime.rounds, summary.rounds);
  EXPECT_EQ(lifetime.counts.completed(), summary.counts.completed());
  EXPECT_EQ(lifetime.bytes, summary.bytes);
  EXPECT_EQ(lifetime.phase_seconds, summary.phase_seconds);
}

}  // namespace
}  // namespace gannet::jobs
