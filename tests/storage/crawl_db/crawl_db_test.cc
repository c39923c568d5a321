// What each verb promises, one promise per test. Random sequences of verbs are
// in property_test.cc.
#include "storage/crawl_db/crawl_db.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/storage/crawl_db/random_verbs.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

using model::PageOf;
using testing::ElementsAre;

class CrawlDbTest : public testing::Test {
 protected:
  CrawlDbTest() { Reopen(); }
  ~CrawlDbTest() override { EXPECT_EQ(Broken(), ""); }

  void Reopen() {
    db_.reset();
    db_ = model::OpenSmallDb(folder_.path());
  }

  // The names of invariants that do not hold.
  std::string Broken() {
    return model::FailedChecks(*db_, false) + model::FailedChecks(*db_, true);
  }

  void Put(const PageKey& page, int64_t cash) {
    ASSERT_TRUE(
        db_->incoming().PutIfAbsent({FoundUrl{page, cash}}, {now_}).ok());
  }

  std::vector<PageKey> Top(size_t width, size_t per_host) {
    std::vector<PageKey> pages;
    const Selection selection = *db_->frontier().Top(width, per_host);
    for (const auto& p : selection.pages) pages.push_back(p.page);
    return pages;
  }

  // Opens a round of the best `width` pages, up to the fetch phase.
  int64_t Generate(size_t width) {
    EXPECT_TRUE(db_->round().Open(now_).ok());
    const int64_t claimed =
        *db_->frontier().Claim(*db_->frontier().Top(width, width));
    EXPECT_TRUE(db_->round().PayRoot().ok());
    EXPECT_TRUE(db_->round().SetPhase(proto::FETCH).ok());
    return claimed;
  }

  static Completion Fetched(PageKey page, std::vector<PageKey> links,
                            std::optional<absl::Time> ready) {
    Completion completion;
    completion.page = std::move(page);
    completion.outcome.set_state(proto::FETCHED);
    completion.outlinks = std::move(links);
    completion.ready = ready;
    completion.keeps_history = true;
    return completion;
  }

  TemporaryFolder folder_;
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  std::unique_ptr<CrawlDb> db_;
};

TEST_F(CrawlDbTest, ASeedBringsItsCashOnceHoweverOftenItIsInjected) {
  const PutCounts first =
      *db_->incoming().Inject({PageOf(0, 0, 0), PageOf(0, 0, 0)}, now_);
  EXPECT_EQ(first.added, 1);
  EXPECT_EQ(first.known, 1);
  EXPECT_EQ(db_->incoming().Inject({PageOf(0, 0, 0)}, now_)->known, 1);
  EXPECT_EQ(db_->totals().injected, kSeedCash);
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 0))->cash(), kSeedCash);
}

TEST_F(CrawlDbTest, AKnownPageOnlyReceivesTheCash) {
  Put(PageOf(0, 0, 0), 100);
  const PutCounts counts =
      *db_->incoming().PutIfAbsent({FoundUrl{PageOf(0, 0, 0), 20, /*depth=*/7},
                                    FoundUrl{PageOf(0, 0, 1), 3}},
                                   {now_});
  EXPECT_EQ(counts.known, 1);
  EXPECT_EQ(counts.added, 1);
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 0))->cash(), 120);
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 0))->depth(), 0u);
  EXPECT_EQ(*db_->records().HostPages(
                {std::string(HostPartOf(PageOf(0, 0, 0).bytes))}),
            2);
}

TEST_F(CrawlDbTest, CashThatDoesNotFitIsRefusedAndNothingIsWritten) {
  EXPECT_EQ(db_->incoming()
                .PutIfAbsent({FoundUrl{PageOf(0, 0, 0), -1}}, {now_})
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
  Put(PageOf(0, 0, 0), int64_t{1} << 61);
  EXPECT_FALSE(
      db_->incoming()
          .PutIfAbsent({FoundUrl{PageOf(0, 0, 1), (int64_t{1} << 61) + 1}},
                       {now_})
          .ok());
  EXPECT_EQ(db_->totals().KnownPages(), 1);
}

TEST_F(CrawlDbTest, TopTakesTheBestPagesAndNoMoreThanAllowedOfAHost) {
  Put(PageOf(0, 0, 0), 1000);
  Put(PageOf(0, 0, 1), 900);
  Put(PageOf(0, 0, 2), 800);
  Put(PageOf(1, 0, 0), 10);
  EXPECT_THAT(Top(3, 2),
              ElementsAre(PageOf(0, 0, 0), PageOf(0, 0, 1), PageOf(1, 0, 0)));
  EXPECT_THAT(Top(2, 5), ElementsAre(PageOf(0, 0, 0), PageOf(0, 0, 1)));
}

// Claimed neighbours are deleted as a range: rows between them that were not
// claimed, and rows that are added there later, must not be deleted with them.
TEST_F(CrawlDbTest, AThousandNeighboursAreClaimedAndOnlyThey) {
  std::vector<FoundUrl> urls;
  for (int i = 0; i < 1000; ++i) urls.push_back({PageOf(0, 0, i), 1000});
  for (int i = 0; i < 10; ++i) urls.push_back({PageOf(0, 1, i), 1000});
  for (int i = 0; i < 1000; ++i) urls.push_back({PageOf(0, 2, i), 1000});
  ASSERT_TRUE(db_->incoming().PutIfAbsent(urls, {now_}).ok());
  HostUpdate update{{std::string(HostPartOf(PageOf(0, 1, 0).bytes))}, {}};
  update.record.set_rest_until_ms(ToMillis(now_ + absl::Minutes(5)));
  ASSERT_TRUE(db_->records().PutHost(update).ok());
  ASSERT_TRUE(db_->round().Open(now_).ok());
  const Selection selection = *db_->frontier().Top(1500, 1500);
  Put(PageOf(0, 0, 5000), 1000);  // Its row is between two of the selection.
  EXPECT_EQ(*db_->frontier().Claim(selection), 1500);
  EXPECT_EQ(db_->totals().frontier_pages, 511);
  EXPECT_EQ(Broken(), "");
  Put(PageOf(0, 0, 5001), 1000);
  Reopen();
  EXPECT_EQ(Top(10'000, 10'000).size(), 502u);
}

TEST_F(CrawlDbTest, APageThatGainsCashMovesUp) {
  Put(PageOf(0, 0, 0), 1000);
  Put(PageOf(0, 0, 1), 10);
  Put(PageOf(0, 0, 1), 100'000);
  EXPECT_THAT(Top(1, 1), ElementsAre(PageOf(0, 0, 1)));
}

TEST_F(CrawlDbTest, APageThatMovedSinceTopLookedIsNotClaimed) {
  Put(PageOf(0, 0, 0), 1000);
  ASSERT_TRUE(db_->round().Open(now_).ok());
  const Selection selection = *db_->frontier().Top(10, 10);
  Put(PageOf(0, 0, 0), 1'000'000);
  EXPECT_EQ(*db_->frontier().Claim(selection), 0);
  EXPECT_EQ(*db_->frontier().Claim(*db_->frontier().Top(10, 10)), 1);
}

TEST_F(CrawlDbTest, AHostAtRestGivesNoPagesUntilItsRestIsOver) {
  Put(PageOf(0, 0, 0), 1000);
  Put(PageOf(1, 0, 0), 10);
  HostUpdate update{{std::string(HostPartOf(PageOf(0, 0, 0).bytes))}, {}};
  update.record.set_rest_until_ms(ToMillis(now_ + absl::Minutes(5)));
  ASSERT_TRUE(db_->records().PutHost(update).ok());
  Reopen();
  EXPECT_THAT(Top(10, 10), ElementsAre(PageOf(1, 0, 0)));
  EXPECT_EQ(*db_->frontier().WakeDue(now_ + absl::Minutes(4), 10, 10), 0);
  ASSERT_TRUE(db_->frontier().PutAside(*db_->frontier().Top(10, 10)).ok());
  Reopen();
  EXPECT_EQ(*db_->frontier().NextDue(), now_ + absl::Minutes(5));
  ASSERT_TRUE(db_->frontier().WakeDue(now_ + absl::Minutes(5), 10, 10).ok());
  EXPECT_EQ(*db_->frontier().NextDue(), std::nullopt);
  EXPECT_THAT(Top(10, 10), ElementsAre(PageOf(0, 0, 0), PageOf(1, 0, 0)));
}

// The pages of a big host must not be woken all at once, nor be put aside again
// by the very round that wakes them.
TEST_F(CrawlDbTest, ABigHostWakesAFewPagesAtATimeBestFirst) {
  for (int i = 0; i < 10; ++i) Put(PageOf(0, 0, i), 1000 << i);
  const HostKey host{std::string(HostPartOf(PageOf(0, 0, 0).bytes))};
  HostUpdate update{host, {}};
  update.record.set_rest_until_ms(ToMillis(now_ + absl::Minutes(5)));
  ASSERT_TRUE(db_->records().PutHost(update).ok());
  ASSERT_TRUE(db_->round().Open(now_).ok());
  EXPECT_EQ(*db_->frontier().Claim(*db_->frontier().Top(20, 20)),
            0);  // Puts all ten aside.
  now_ += absl::Minutes(5);

  EXPECT_EQ(*db_->frontier().WakeDue(now_, 4, 4), 4);
  EXPECT_EQ(Broken(), "");
  Reopen();
  EXPECT_THAT(Top(20, 20), ElementsAre(PageOf(0, 0, 9), PageOf(0, 0, 8),
                                       PageOf(0, 0, 7), PageOf(0, 0, 6)));
  EXPECT_EQ(*db_->frontier().Claim(*db_->frontier().Top(20, 20)), 4);
  Put(PageOf(0, 0, 0), 5'000'000);  // A page that stands aside moves up.
  EXPECT_THAT(Top(20, 20), ElementsAre(PageOf(0, 0, 0)));
  EXPECT_EQ(*db_->frontier().WakeDue(now_, 4, 4), 4);
  EXPECT_EQ(*db_->frontier().WakeDue(now_, 4, 4), 1);
  EXPECT_EQ(*db_->frontier().WakeDue(now_, 4, 4), 0);
  EXPECT_EQ(db_->records().GetHost(host)->rest_until_ms(), 0);
  EXPECT_EQ(Top(20, 20).size(), 6u);
}

TEST_F(CrawlDbTest, AHostWithManyPagesAsideDoesNotKeepOthersAsleep) {
  for (int i = 0; i < 10; ++i) Put(PageOf(0, 0, i), 1000);
  Put(PageOf(1, 0, 0), 10);
  for (const int d : {0, 1}) {
    HostUpdate update{{std::string(HostPartOf(PageOf(d, 0, 0).bytes))}, {}};
    update.record.set_rest_until_ms(ToMillis(now_ + absl::Minutes(5 + d)));
    ASSERT_TRUE(db_->records().PutHost(update).ok());
  }
  ASSERT_TRUE(db_->round().Open(now_).ok());
  EXPECT_EQ(*db_->frontier().Claim(*db_->frontier().Top(20, 20)),
            0);  // Puts all aside.
  EXPECT_EQ(*db_->frontier().WakeDue(now_ + absl::Minutes(5), 2, 2), 2);
  // The second host's rest is over while the first still has eight aside.
  EXPECT_EQ(*db_->frontier().WakeDue(now_ + absl::Minutes(6), 2, 2), 2);
  EXPECT_THAT(Top(20, 20), testing::Contains(PageOf(1, 0, 0)));
}

// A 503 on robots.txt: the host rests, and its pages are scheduled for later.
TEST_F(CrawlDbTest, ARestIsNotWaitedForIfNoPageStandsAside) {
  for (const int d : {0, 1, 2}) Put(PageOf(d, 0, 0), 10);
  ASSERT_EQ(Generate(1), 1);
  const PageKey fetched = db_->round().FetchList(PageKey{}, 1)->front();
  const auto rest = [&](const PageKey& page, int minutes) {
    HostUpdate update{{std::string(HostPartOf(page.bytes))}, {}};
    update.record.set_rest_until_ms(ToMillis(now_ + absl::Minutes(minutes)));
    return update;
  };
  ASSERT_EQ(
      *db_->round().Complete({Fetched(fetched, {}, now_ + absl::Hours(2))},
                             {rest(fetched, 1)}, {}),
      1);
  EXPECT_EQ(*db_->frontier().NextDue(), now_ + absl::Hours(2));
  // Another host rests longer, and its page stands aside.
  const PageKey aside = Top(1, 1).front();
  ASSERT_TRUE(db_->records().PutHost(rest(aside, 5)).ok());
  ASSERT_TRUE(db_->frontier().PutAside(*db_->frontier().Top(10, 10)).ok());
  EXPECT_EQ(*db_->frontier().NextDue(), now_ + absl::Minutes(5));
}

TEST_F(CrawlDbTest, ReleasedPagesOfHostsAtRestAreCountedApart) {
  for (const int d : {0, 1, 2}) Put(PageOf(d, 0, 0), 10);
  HostUpdate update{{std::string(HostPartOf(PageOf(1, 0, 0).bytes))}, {}};
  update.record.set_rest_until_ms(ToMillis(now_ + absl::Minutes(5)));
  ASSERT_EQ(Generate(3), 3);
  ASSERT_TRUE(db_->round().Complete({}, {update}, {}).ok());
  ASSERT_TRUE(db_->frontier()
                  .Release({PageOf(0, 0, 0), PageOf(1, 0, 0), PageOf(2, 0, 0)})
                  .ok());
  EXPECT_EQ(db_->round().journal().counts().released(), 3);
  EXPECT_EQ(db_->round().journal().counts().released_awake(), 2);
}

TEST_F(CrawlDbTest, TimesBefore1970AreDueAtOnceAndHideNothing) {
  for (int i = 0; i < 2; ++i) Put(PageOf(0, 0, i), 8);
  ASSERT_EQ(Generate(2), 2);
  ASSERT_EQ(*db_->round().Complete(
                {Fetched(PageOf(0, 0, 0), {}, absl::InfinitePast()),
                 Fetched(PageOf(0, 0, 1), {}, now_ + absl::Minutes(1))},
                {}, {}),
            2);
  EXPECT_EQ(*db_->frontier().WakeDue(now_, 10, 10), 1);
  EXPECT_EQ(*db_->frontier().NextDue(), now_ + absl::Minutes(1));
  EXPECT_EQ(*db_->frontier().WakeDue(now_ + absl::Minutes(1), 10, 10), 1);
}

TEST_F(CrawlDbTest, WhatIsNoPageKeyIsRefused) {
  for (const char* key : {"", "x", "xcom,example", "x)http/", "xcom,)"}) {
    EXPECT_EQ(db_->incoming()
                  .PutIfAbsent({FoundUrl{PageKey{key}, 1}}, {now_})
                  .status()
                  .code(),
              absl::StatusCode::kInvalidArgument)
        << key;
    EXPECT_FALSE(db_->incoming().Inject({PageKey{key}}, now_).ok()) << key;
  }
  EXPECT_EQ(db_->totals().KnownPages(), 0);
}

TEST_F(CrawlDbTest, OutlinksWithoutCashAreNotLostWithTheRound) {
  Put(PageOf(0, 0, 0), 1);
  ASSERT_EQ(Generate(1), 1);
  ASSERT_TRUE(
      db_->round()
          .Complete({Fetched(PageOf(0, 0, 0),
                             {PageOf(0, 0, 1), PageOf(0, 0, 2)}, std::nullopt)},
                    {}, {})
          .ok());
  ASSERT_TRUE(db_->round().SetPhase(proto::UPDATE).ok());
  EXPECT_EQ(db_->totals().round, 0);
  EXPECT_FALSE(db_->round().Close("{}").ok());
  Settlement batch;
  EXPECT_FALSE(db_->round().Settle(batch, {now_}).ok());  // It has no cursor.
  batch.cursor = PageOf(0, 0, 2).bytes;
  batch.local = {{PageOf(0, 0, 1), 0, 1}, {PageOf(0, 0, 2), 1, 1}};
  EXPECT_FALSE(
      db_->round().Settle(batch, {now_}).ok());  // More than the round has.
  batch.local[1].cash = 0;
  EXPECT_EQ(db_->round().Settle(batch, {now_})->added, 2);
  EXPECT_TRUE(db_->round().Close("{}").ok());
}

TEST_F(CrawlDbTest, AStragglerCannotCompleteAPageDuringUpdate) {
  Put(PageOf(0, 0, 0), 1);
  ASSERT_EQ(Generate(1), 1);
  ASSERT_TRUE(db_->frontier().Release({PageOf(0, 0, 0)}).ok());
  ASSERT_TRUE(db_->round().SetPhase(proto::UPDATE).ok());
  EXPECT_EQ(db_->round()
                .Complete({Fetched(PageOf(0, 0, 0), {}, std::nullopt)}, {}, {})
                .status()
                .code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(CrawlDbTest, AFetchedPagesCashIsSplitEvenlyAndTheRestGoesToTheRoot) {
  Put(PageOf(0, 0, 0), 100);
  ASSERT_EQ(Generate(10), 1);
  ASSERT_EQ(*db_->round().Complete(
                {Fetched(PageOf(0, 0, 0),
                         {PageOf(0, 0, 1), PageOf(0, 0, 2), PageOf(0, 0, 3)},
                         std::nullopt)},
                {}, {}),
            1);
  const Totals totals = db_->totals();
  EXPECT_EQ(totals.root, 1);
  EXPECT_EQ(totals.round, 99);
  EXPECT_EQ(totals.pages, 0);
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 0))->history(), 100);
}

TEST_F(CrawlDbTest, TheRootPaysEvenlyToTheFetchListAndKeepsTheRemainder) {
  for (int i = 0; i < 3; ++i) Put(PageOf(0, 0, i), 7);
  Put(PageOf(1, 0, 0), 1000);
  ASSERT_TRUE(
      db_->records().Forget(PageOf(1, 0, 0)).ok());  // 1,000 to the root.
  ASSERT_EQ(Generate(10), 3);
  EXPECT_EQ(db_->round().journal().root_share(), 333);
  EXPECT_EQ(db_->totals().root, 1);
  ASSERT_TRUE(db_->frontier().Release({PageOf(0, 0, 0)}).ok());
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 0))->cash(), 340);
}

TEST_F(CrawlDbTest, CashForAFetchedPageThatIsNotDueSoonGoesToTheRoot) {
  Put(PageOf(0, 0, 0), 8);
  ASSERT_EQ(Generate(1), 1);
  ASSERT_TRUE(
      db_->round()
          .Complete({Fetched(PageOf(0, 0, 0), {}, now_ + absl::Hours(24))}, {},
                    {})
          .ok());
  ASSERT_TRUE(db_->incoming()
                  .PutIfAbsent({FoundUrl{PageOf(0, 0, 0), 50}},
                               {now_, now_ + absl::Hours(1)})
                  .ok());
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 0))->cash(), 0);
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 0))->history(), 58);
  EXPECT_EQ(db_->totals().root, 58);
  ASSERT_TRUE(db_->incoming()
                  .PutIfAbsent({FoundUrl{PageOf(0, 0, 0), 50}},
                               {now_, now_ + absl::Hours(25)})
                  .ok());
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 0))->cash(), 50);
}

TEST_F(CrawlDbTest, ARoundWithUnfinishedWorkCannotEnd) {
  Put(PageOf(0, 0, 0), 8);
  ASSERT_EQ(Generate(1), 1);
  EXPECT_EQ(db_->round().Close("{}").code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(db_->round().Open(now_).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(db_->round().SetPhase(proto::UPDATE).code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(db_->frontier().Release({PageOf(0, 0, 0)}).ok());
  ASSERT_TRUE(db_->round().SetPhase(proto::UPDATE).ok());
  EXPECT_TRUE(db_->round().Close(R"({"round":1})").ok());
  EXPECT_EQ(*db_->round().Report(1), R"({"round":1})");
}

TEST_F(CrawlDbTest, ACompletedPageIsNotCompletedAgain) {
  Put(PageOf(0, 0, 0), 8);
  ASSERT_EQ(Generate(1), 1);
  const Completion done = Fetched(PageOf(0, 0, 0), {}, std::nullopt);
  EXPECT_EQ(*db_->round().Complete({done}, {}, {}), 1);
  EXPECT_EQ(*db_->round().Complete({done}, {}, {}), 0);
  EXPECT_EQ(db_->round().Complete({done, done}, {}, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(db_->totals().root, 8);
}

TEST_F(CrawlDbTest, OutlinksAreSettledOnceThoughTheBatchComesTwice) {
  Put(PageOf(0, 0, 0), 100);
  ASSERT_EQ(Generate(1), 1);
  ASSERT_TRUE(
      db_->round()
          .Complete({Fetched(PageOf(0, 0, 0), {PageOf(0, 0, 1)}, std::nullopt)},
                    {}, {})
          .ok());
  ASSERT_TRUE(db_->round().SetPhase(proto::UPDATE).ok());
  Settlement batch;
  batch.cursor = PageOf(0, 0, 1).bytes;
  batch.local.push_back({PageOf(0, 0, 1), 100, 1});
  EXPECT_EQ(db_->round().Settle(batch, {now_})->added, 1);
  EXPECT_EQ(db_->round().Settle(batch, {now_}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 1))->cash(), 100);
  EXPECT_TRUE(db_->round().Close("{}").ok());
}

// They are limited because update reads all of them, sometimes several times.
TEST_F(CrawlDbTest, OfTooManyBytesOfOutlinksTheFirstAreKeptAndShareTheCash) {
  Put(PageOf(0, 0, 0), 1'000'000);
  ASSERT_EQ(Generate(1), 1);
  std::vector<PageKey> links;
  size_t bytes = 0;
  for (int i = 0; i < 300; ++i) {
    PageKey link = PageOf(1, 0, i);
    link.bytes += std::string(2000 - link.bytes.size(), 'x');
    bytes += link.bytes.size();
    links.push_back(std::move(link));
  }
  ASSERT_GT(bytes, kMostOutlinkBytes);
  ASSERT_TRUE(
      db_->round()
          .Complete({Fetched(PageOf(0, 0, 0), links, std::nullopt)}, {}, {})
          .ok());
  const auto kept = static_cast<int>(kMostOutlinkBytes / 2000);
  int segments = 0;
  ASSERT_TRUE(db_->round()
                  .ForEachOutlinks([&](std::string_view, const auto& segment) {
                    ++segments;
                    EXPECT_EQ(segment.targets_size(), kept);
                    EXPECT_EQ(segment.targets(0), links[0].bytes);
                    EXPECT_EQ(segment.cash_each(), 1'000'000 / kept);
                  })
                  .ok());
  EXPECT_EQ(segments, 1);
}

// Rounds of one page, whose links are to be settled.
class SettleTest : public CrawlDbTest {
 protected:
  // Runs a round up to its update phase: the best page of all links to `of`,
  // and each of them gets `each_`.
  void Find(std::vector<PageKey> of) {
    const PageKey source = PageOf(2, 2, ++sources_);
    Put(source, int64_t{1} << (40 + sources_));
    ASSERT_EQ(Generate(1), 1);
    ASSERT_EQ(db_->round().FetchList(PageKey{}, 1)->front(), source);
    std::sort(of.begin(), of.end());
    ASSERT_TRUE(db_->round()
                    .Complete({Fetched(source, of, std::nullopt)}, {}, {})
                    .ok());
    ASSERT_TRUE(db_->round().SetPhase(proto::UPDATE).ok());
    batch_ = {};
    ASSERT_TRUE(
        db_->round()
            .ForEachOutlinks([&](std::string_view, const auto& segment) {
              for (const std::string& target : segment.targets()) {
                batch_.local.push_back({PageKey{target}, segment.cash_each()});
              }
            })
            .ok());
    each_ = batch_.local.front().cash;
    batch_.cursor = batch_.local.back().page.bytes;
  }
  PutCounts Settle() {
    const auto counts = db_->round().Settle(batch_, {now_});
    EXPECT_TRUE(counts.ok()) << counts.status();
    EXPECT_TRUE(db_->round().Close("{}").ok());
    return *counts;
  }

  Settlement batch_;
  int64_t each_ = 0;
  int sources_ = 0;
};

TEST_F(SettleTest, DeferredCashOfAUrlCountsWithWhatItGetsAndGoesInWithIt) {
  Find({PageOf(0, 0, 1), PageOf(0, 0, 2)});
  batch_.least_cash_for_new = each_;
  batch_.most_with_least_cash = 0;
  EXPECT_EQ(Settle().deferred, 2);
  const int64_t waiting = each_;

  Find({PageOf(0, 0, 1), PageOf(0, 0, 3)});
  batch_.least_cash_for_new = each_;
  batch_.most_with_least_cash = 0;
  const PutCounts counts = Settle();
  EXPECT_EQ(counts.added, 1);
  EXPECT_EQ(counts.deferred, 1);
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 1))->cash(), waiting + each_);
  EXPECT_FALSE(db_->records().GetPage(PageOf(0, 0, 3)).ok());
  EXPECT_EQ(db_->totals().deferred_urls, 2);
  EXPECT_EQ(db_->totals().deferred, waiting + each_);
}

TEST_F(SettleTest, OfAHostWithoutRoomForAllTheBestGetIn) {
  Find({PageOf(0, 0, 1), PageOf(0, 0, 2), PageOf(0, 0, 3)});
  batch_.local[1].cash += batch_.local[0].cash - 1;  // The sum of two links.
  batch_.local[0].cash = 1;
  const FoundUrl best = batch_.local[1];
  batch_.most_host_pages = 1;
  EXPECT_EQ(Settle().added, 1);
  EXPECT_EQ(db_->records().GetPage(best.page)->cash(), best.cash);
  EXPECT_EQ(db_->totals().dropped_urls, 2);
}

TEST_F(SettleTest, WhatARoundDropsIsInItsCounts) {
  ASSERT_TRUE(db_->blocks().Block("d1.example").ok());
  Find({PageOf(0, 0, 1), PageOf(1, 0, 1), PageOf(1, 0, 2)});
  batch_.least_cash_for_new = each_;
  batch_.most_with_least_cash = 0;
  batch_.drop_over_quota = true;
  ASSERT_TRUE(db_->round().Settle(batch_, {now_}).ok());
  const proto::RoundCounts counts = db_->round().journal().counts();
  EXPECT_EQ(counts.dropped_urls(), 3);
  EXPECT_EQ(counts.dropped().at("over_quota"), each_);
  EXPECT_EQ(counts.dropped().at(kBlockedByOperator), 2 * each_);
  ASSERT_TRUE(db_->round().Close("{}").ok());
  ASSERT_TRUE(db_->round().Open(now_).ok());
  EXPECT_EQ(db_->round().journal().counts().dropped_urls(), 0);
}

TEST_F(CrawlDbTest, TheTimeOfAPhaseAddsUpOverProcesses) {
  EXPECT_FALSE(db_->round().AddPhaseTime(proto::FETCH, absl::Seconds(1)).ok());
  Generate(1);
  ASSERT_TRUE(db_->round().AddPhaseTime(proto::FETCH, absl::Seconds(2)).ok());
  Reopen();
  ASSERT_TRUE(db_->round().AddPhaseTime(proto::FETCH, absl::Seconds(3)).ok());
  EXPECT_EQ(db_->round().journal().counts().phase_us().at(proto::FETCH),
            5'000'000);
}

TEST_F(CrawlDbTest, TheArchivesOpenFilesAreStoredWithTheCompletion) {
  Put(PageOf(0, 0, 0), 8);
  ASSERT_EQ(Generate(1), 1);
  proto::ArchiveState archive;
  archive.add_open()->set_number(3);
  archive.mutable_open(0)->set_length(12345);
  ASSERT_TRUE(
      db_->round()
          .Complete({Fetched(PageOf(0, 0, 0), {}, std::nullopt)}, {}, archive)
          .ok());
  Reopen();
  EXPECT_EQ(db_->records().archive_state()->open(0).length(), 12345u);
}

TEST_F(CrawlDbTest, WritersAndAVerifierWorkSideBySide) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 60; ++i) {
        std::vector<FoundUrl> urls;
        for (int j = 0; j < 12; ++j) {
          urls.push_back(
              {PageOf((i + t) % 3, j % 3, (i * 7 + j) % 40), 100 + i});
        }
        EXPECT_TRUE(db_->incoming().PutIfAbsent(urls, {now_}).ok());
      }
    });
  }
  threads.emplace_back([this] {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(Broken(), "");
  });
  threads.emplace_back([this] {
    for (int i = 0; i < 10; ++i) {
      if (Generate(20) == 0) std::this_thread::yield();
      auto open = db_->round().FetchList(PageKey{}, 100);
      EXPECT_TRUE(db_->frontier().Release(*open).ok());
      EXPECT_TRUE(db_->round().SetPhase(proto::UPDATE).ok());
      EXPECT_TRUE(db_->round().Close("{}").ok());
    }
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(db_->totals().received, db_->totals().pages);
}

TEST_F(CrawlDbTest, ANoteIsKeptAndDoesNotDisturbVerify) {
  EXPECT_TRUE(absl::IsNotFound(db_->records().GetNote("map").status()));
  const std::string bytes("\0\xff", 2);
  ASSERT_TRUE(db_->records().PutNote("map", bytes).ok());
  ASSERT_TRUE(db_->records().PutNote("sent_urls", "").ok());
  EXPECT_EQ(*db_->records().GetNote("map"), bytes);
  EXPECT_EQ(*db_->records().GetNote("sent_urls"), "");
  EXPECT_EQ(model::FailedChecks(*db_, true), "");
}

TEST_F(CrawlDbTest, ASampleOfASmallFrontierIsAllOfIt) {
  Put(PageOf(1, 1, 1), 5);
  Put(PageOf(1, 1, 2), 700);
  const auto sample = db_->frontier().SampleFrontier(10);
  ASSERT_TRUE(sample.ok());
  std::vector<uint64_t> scores;
  for (const FrontierSample& page : *sample) {
    EXPECT_EQ(page.stands_for, 1);
    scores.push_back(page.score);
  }
  EXPECT_THAT(scores, testing::UnorderedElementsAre(5, 700));
}

TEST_F(CrawlDbTest, ASampleOfALargeFrontierIsRepresentative) {
  std::vector<FoundUrl> found;
  for (int i = 0; i < 3000; ++i)
    found.push_back(FoundUrl{PageOf(i % 90, 1, i), i % 7 * 100});
  ASSERT_TRUE(db_->incoming().PutIfAbsent(found, {now_}).ok());
  const auto sample = db_->frontier().SampleFrontier(300);
  ASSERT_TRUE(sample.ok());
  EXPECT_LE(sample->size(), 400u);
  double all = 0;
  std::set<uint64_t> scores;
  for (const FrontierSample& page : *sample) {
    all += page.stands_for;
    scores.insert(page.score);
  }
  EXPECT_NEAR(all, static_cast<double>(db_->totals().frontier_pages), 1);
  EXPECT_EQ(scores.size(), 7u);
}

}  // namespace
}  // namespace gannet::storage
