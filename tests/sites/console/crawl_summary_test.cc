// What a person reads at the end of a crawl.
#include "sites/console/crawl_summary.h"

#include <gmock/gmock.h>

#include "sites/admin/message_times.h"

namespace gannet::sites {
namespace {

using testing::HasSubstr;
using testing::Not;

class CrawlSummaryTest : public testing::Test {
 protected:
  CrawlSummaryTest() {
    summary_.data = "./site";
    summary_.now = absl::FromUnixSeconds(1'000'000);
    summary_.counts.set_end("nothing_left");
  }
  void Fail(const std::string& kind, int64_t pages) {
    (*summary_.counts.mutable_failures())[kind] = pages;
    (*summary_.counts.mutable_failed_url())[kind] = "http://" + kind + "/";
  }

  CrawlSummary summary_;
};

TEST_F(CrawlSummaryTest,
       TheFiveMostCommonFailuresAreNamedWithWhatExplainsThem) {
  for (int i = 1; i <= 7; ++i) Fail("kind" + std::to_string(i), i);
  const std::string text = SummaryText(summary_);
  for (const char* kind : {"kind3", "kind4", "kind5", "kind6", "kind7"}) {
    EXPECT_THAT(
        text, HasSubstr(std::string("gannet check page http://") + kind + "/"));
  }
  EXPECT_THAT(text, Not(HasSubstr("kind2")));
  EXPECT_THAT(text, HasSubstr("3 failed otherwise"));
  EXPECT_LT(text.find("kind7"), text.find("kind6"));
}

TEST_F(CrawlSummaryTest, WhatIsLeftForLaterIsCountedAndHowToWaitIsSaid) {
  EXPECT_THAT(SummaryText(summary_), Not(HasSubstr("--wait")));
  summary_.later.set_is_counted(true);
  summary_.later.set_retries(7);
  *summary_.later.mutable_next_retry() =
      ToMessage(summary_.now + absl::Minutes(4));
  summary_.later.set_resting_hosts(1);
  summary_.later.set_last_host("a.example");
  *summary_.later.mutable_last_rest_end() =
      ToMessage(summary_.now + absl::Hours(24));
  summary_.status.set_frontier(40);
  const std::string text = SummaryText(summary_);
  EXPECT_THAT(text, HasSubstr("7 pages that failed may be tried again, the "
                              "first in 4m"));
  EXPECT_THAT(text, HasSubstr("40 pages were not fetched because their hosts "
                              "rest"));
  EXPECT_THAT(text, HasSubstr("a.example"));
  EXPECT_THAT(text, HasSubstr("--wait TIME"));
}

TEST_F(CrawlSummaryTest, TheReasonForTheEndComesFirst) {
  EXPECT_THAT(SummaryText(summary_), testing::StartsWith("ended: nothing"));
  summary_.counts.set_end("pages");
  summary_.max_pages = 100;
  EXPECT_THAT(SummaryText(summary_), testing::StartsWith("ended: 100 pages"));
  summary_.counts.set_end("time");
  EXPECT_THAT(SummaryText(summary_), HasSubstr("--max-time is over"));
}

TEST_F(CrawlSummaryTest, AWaitSaysWhereThePagesAreAndHowToEndIt) {
  const std::string text = WaitText(summary_, summary_.now + absl::Seconds(90));
  EXPECT_THAT(text, HasSubstr("./site/archive"));
  EXPECT_THAT(text, HasSubstr("90s"));
  EXPECT_THAT(text, HasSubstr("Ctrl-C"));
}

}  // namespace
}  // namespace gannet::sites
