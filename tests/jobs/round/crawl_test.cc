// Whole crawls of small fake webs, judged by the web's own truth.
#include <gtest/gtest.h>

#include "tests/jobs/round/fake_crawl.h"

namespace gannet::jobs {
namespace {

void ExpectInvariants(storage::SiteStore& store) {
  const auto checks = store.Verify(/*full=*/true);
  ASSERT_TRUE(checks.ok()) << checks.status();
  for (const storage::Check& check : *checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
}

TEST(CrawlTest, AWebWithoutNastyThingsIsCrawledWholeAndPolitely) {
  FakeCrawl crawl({.hosts = 20, .pages = 200});
  ASSERT_TRUE(crawl.InjectSeeds().ok());
  const absl::Status status = crawl.Crawl();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Differences(crawl.States(), crawl.TrueStates()), "");
  const fake_web::Verdict verdict = crawl.JudgePoliteness();
  EXPECT_TRUE(verdict.ok()) << fake_web::FormatVerdict(verdict);
  EXPECT_EQ(verdict.never_linked, 0);
  ExpectInvariants(crawl.store());
}

TEST(CrawlTest, AWebWithEverythingNastyEndsInExactlyTheTrueStates) {
  FakeCrawl crawl({.hosts = 100,
                   .pages = 1000,
                   .nasty = fake_web::ParseNasty("all").value(),
                   .retry_after_seconds = 1});
  ASSERT_TRUE(crawl.InjectSeeds().ok());
  const absl::Status status = crawl.Crawl();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Differences(crawl.States(), crawl.TrueStates()), "");
  const fake_web::Verdict verdict = crawl.JudgePoliteness();
  EXPECT_TRUE(verdict.ok()) << fake_web::FormatVerdict(verdict);
  EXPECT_EQ(verdict.never_linked, 0) << fake_web::FormatVerdict(verdict);
  ExpectInvariants(crawl.store());
}

}  // namespace
}  // namespace gannet::jobs
