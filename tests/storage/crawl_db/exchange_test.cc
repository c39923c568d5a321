// Batches between sites that are lost, come again, are forged, or belong to
// another incarnation of a site.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "storage/crawl_db/crawl_db.h"
#include "tests/storage/crawl_db/model.h"
#include "tests/storage/crawl_db/random_verbs.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

using testing::HasSubstr;

constexpr SiteId kParis{2};
constexpr SiteId kOslo{3};

class ExchangeTest : public testing::Test {
 protected:
  ExchangeTest() { db_ = model::OpenSmallDb(folder_.path()); }

  static PageKey Page(int i) {
    return MakePageKey("a.example", "example,a,)http/" + std::to_string(i));
  }
  Delivery From(uint64_t sequence, std::vector<FoundUrl> urls) {
    Delivery delivery;
    delivery.from = {kParis, 7};
    delivery.sequence = sequence;
    delivery.mine = std::move(urls);
    for (const FoundUrl& url : delivery.mine) total_ += url.cash;
    delivery.cash_so_far = total_;
    return delivery;
  }
  // Puts `count` URLs into the outbox for Paris.
  void FillOutbox(int count) {
    Delivery delivery = From(++filled_, {});
    delivery.from = {kOslo, 1};
    delivery.cash_so_far = 10 * count * static_cast<int64_t>(filled_);
    for (int i = 0; i < count; ++i) {
      delivery.forwarded.emplace_back(kParis, FoundUrl{Page(1000 + i), 10});
    }
    ASSERT_TRUE(db_->incoming().Receive(delivery, {now_}).ok());
  }
  std::string FailedChecks() {
    std::string failed;
    const auto checks = db_->checks().Verify(true);
    if (!checks.ok()) return checks.status().ToString();
    for (const Check& check : *checks) {
      if (!check.ok) failed += check.name + ": " + check.detail + "\n";
    }
    return failed;
  }

  TemporaryFolder folder_;
  std::unique_ptr<CrawlDb> db_;
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  int64_t total_ = 0;
  uint64_t filled_ = 0;
};

TEST_F(ExchangeTest, ABatchThatComesAgainIsTakenOnce) {
  const Delivery first = From(1, {{Page(1), 100}, {Page(2), 50}});
  EXPECT_TRUE(db_->incoming().Receive(first, {now_})->is_new);
  const Receipt again = *db_->incoming().Receive(first, {now_});
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(again.last, 1u);
  EXPECT_EQ(db_->totals().received, 150);
  EXPECT_EQ(db_->records().GetPage(Page(1))->cash(), 100);
  EXPECT_EQ(FailedChecks(), "");
}

TEST_F(ExchangeTest, ABatchWhosePredecessorIsMissingIsRefused) {
  const absl::Status refused =
      db_->incoming().Receive(From(2, {{Page(1), 1}}), {now_}).status();
  EXPECT_TRUE(absl::IsOutOfRange(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("expected batch 1"));
  EXPECT_EQ(db_->totals().KnownPages(), 0);
}

TEST_F(ExchangeTest, CashThatDoesNotAddUpIsRefused) {
  ASSERT_TRUE(db_->incoming().Receive(From(1, {{Page(1), 100}}), {now_}).ok());
  Delivery forged = From(2, {{Page(2), 1}});
  forged.cash_so_far += 1;
  EXPECT_TRUE(absl::IsInvalidArgument(
      db_->incoming().Receive(forged, {now_}).status()));
  forged.mine = {{Page(2), -1}};
  EXPECT_TRUE(absl::IsInvalidArgument(
      db_->incoming().Receive(forged, {now_}).status()));
  forged.mine = {{PageKey{"nonsense"}, 1}};
  EXPECT_TRUE(absl::IsInvalidArgument(
      db_->incoming().Receive(forged, {now_}).status()));
  EXPECT_EQ(db_->incoming().received_pair({kParis, 7})->last(), 1u);
  EXPECT_EQ(db_->totals().KnownPages(), 1);
}

TEST_F(ExchangeTest, AKnownPageGainsInCashModeOnly) {
  ASSERT_TRUE(db_->incoming().Receive(From(1, {{Page(1), 100}}), {now_}).ok());
  ASSERT_TRUE(db_->incoming().Receive(From(2, {{Page(1), 30}}), {now_}).ok());
  EXPECT_EQ(db_->records().GetPage(Page(1))->cash(), 100);
  EXPECT_EQ(db_->totals().dropped.at(kKnownAtItsOwner), 30);
  Delivery cash = From(3, {{Page(1), 30}});
  cash.known_gain = true;
  ASSERT_TRUE(db_->incoming().Receive(cash, {now_}).ok());
  EXPECT_EQ(db_->records().GetPage(Page(1))->cash(), 130);
  EXPECT_EQ(FailedChecks(), "");
}

TEST_F(ExchangeTest, EachLifeOfASenderCountsAnew) {
  ASSERT_TRUE(db_->incoming().Receive(From(1, {{Page(1), 5}}), {now_}).ok());
  Delivery reborn = From(1, {{Page(2), 5}});
  reborn.from.incarnation = 8;
  reborn.cash_so_far = 5;
  EXPECT_TRUE(db_->incoming().Receive(reborn, {now_})->is_new);
  EXPECT_EQ(db_->totals().KnownPages(), 2);
}

TEST_F(ExchangeTest, AReceiversNewLifeGetsEverythingAgain) {
  FillOutbox(5);
  const Peer old{kParis, 1}, reborn{kParis, 2};
  EXPECT_TRUE(
      absl::IsFailedPrecondition(db_->outgoing().CutOutbox(old, 2).status()));
  ASSERT_TRUE(db_->outgoing().OpenPair(old).ok());
  EXPECT_EQ(db_->outgoing().CutOutbox(old, 2)->sequence, 1u);
  EXPECT_EQ(db_->outgoing().CutOutbox(old, 2)->sequence, 2u);
  ASSERT_TRUE(db_->outgoing().Acknowledge(old, 1).ok());
  ASSERT_TRUE(db_->outgoing().OpenPair(old).ok());  // It changes nothing.
  EXPECT_EQ(db_->outgoing().Sending(kParis)->size(), 1u);

  ASSERT_TRUE(db_->outgoing().OpenPair(reborn).ok());
  EXPECT_TRUE(db_->outgoing().Sending(kParis)->empty());
  const OutboxCut cut = *db_->outgoing().CutOutbox(reborn, 10);
  EXPECT_EQ(cut.sequence, 1u);
  EXPECT_EQ(cut.batch.urls_size(), 3);  // Two were acknowledged.
  EXPECT_EQ(cut.batch.cash_so_far(), 30);
  EXPECT_TRUE(absl::IsFailedPrecondition(db_->outgoing().Acknowledge(old, 2)));
  EXPECT_EQ(FailedChecks(), "");
}

TEST_F(ExchangeTest, ABatchHasNoMoreBytesThanAllowedAndAtLeastOneUrl) {
  FillOutbox(5);
  const Peer peer{kParis, 1};
  ASSERT_TRUE(db_->outgoing().OpenPair(peer).ok());
  const size_t key = Page(1000).bytes.size();
  EXPECT_EQ(db_->outgoing().CutOutbox(peer, 10, 2 * key)->batch.urls_size(), 2);
  EXPECT_EQ(db_->outgoing().CutOutbox(peer, 10, 2 * key + 1)->batch.urls_size(),
            2);
  EXPECT_EQ(db_->outgoing().CutOutbox(peer, 10, 1)->batch.urls_size(), 1);
}

TEST_F(ExchangeTest, ACursorGoesOnWhereTheLastCutEndedAndThenBeginsAnew) {
  const auto pages = [](const OutboxCut& cut) {
    std::vector<std::string> pages;
    for (const auto& url : cut.batch.urls()) pages.push_back(url.page());
    return pages;
  };
  std::vector<std::pair<SiteId, FoundUrl>> waiting;
  for (int i = 1; i <= 5; ++i) waiting.push_back({kParis, {Page(1000 + i), 0}});
  ASSERT_TRUE(db_->waiting().SendAgain(waiting).ok());
  const Peer peer{kParis, 1};
  ASSERT_TRUE(db_->outgoing().OpenPair(peer).ok());
  std::string cursor;
  const auto cut = [&](size_t most) {
    return db_->outgoing().CutOutbox(peer, most, 1 << 20, &cursor);
  };
  std::set<std::string> seen;
  for (const std::string& page : pages(*cut(2))) seen.insert(page);
  // A URL that was cut before is found again; its row is before the cursor.
  const std::string again = *seen.begin();
  ASSERT_TRUE(db_->waiting().SendAgain({{{kParis, {PageKey{again}, 0}}}}).ok());
  for (const std::string& page : pages(*cut(10))) {
    EXPECT_TRUE(seen.insert(page).second) << "from the front";
  }
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_EQ(pages(*cut(10)), std::vector<std::string>{again});
  EXPECT_TRUE(absl::IsNotFound(cut(10).status()));
  // A cursor that is not in this site's outbox is ignored.
  ASSERT_TRUE(db_->waiting().SendAgain(waiting).ok());
  cursor = "z";
  EXPECT_EQ(pages(*cut(10)).size(), 5u);
  EXPECT_EQ(FailedChecks(), "");
}

TEST_F(ExchangeTest, ANewLifeTakesBatchOneOfASenderItKnew) {
  ASSERT_TRUE(db_->incoming().Receive(From(1, {{Page(1), 5}}), {now_}).ok());
  ASSERT_TRUE(db_->incoming().Reincarnate().ok());
  EXPECT_EQ(db_->incoming().received_pair({kParis, 7})->last(), 0u);
  total_ = 0;
  EXPECT_TRUE(db_->incoming().Receive(From(1, {{Page(2), 5}}), {now_})->is_new);
  EXPECT_EQ(FailedChecks(), "");
}

TEST_F(ExchangeTest, ABatchThatWasSentToTheLifeBeforeIsRefused) {
  Delivery late = From(1, {{Page(1), 5}});
  late.to_incarnation = db_->records().identity()->incarnation() + 1;
  EXPECT_TRUE(absl::IsFailedPrecondition(
      db_->incoming().Receive(late, {now_}).status()));
  EXPECT_EQ(db_->incoming().received_pair({kParis, 7})->last(), 0u);
  ASSERT_TRUE(db_->incoming().Reincarnate().ok());
  late.to_incarnation = db_->records().identity()->incarnation();
  EXPECT_TRUE(db_->incoming().Receive(late, {now_})->is_new);
  EXPECT_EQ(FailedChecks(), "");
}

// A new life has received no batch yet. A batch that comes while the new life
// begins either counts for the old life or is refused.
TEST_F(ExchangeTest, ANewLifeThatBeginsAmongBatchesHasNoneOfThem) {
  for (int life = 1; life <= 20; ++life) {
    const uint64_t old = db_->records().identity()->incarnation();
    std::atomic<bool> is_reborn = false;
    std::thread sender([&] {
      total_ = 0;
      for (uint64_t i = 1; !is_reborn; ++i) {
        Delivery delivery = From(i, {{Page(static_cast<int>(i)), 1}});
        delivery.to_incarnation = old;
        if (!db_->incoming().Receive(std::move(delivery), {now_}).ok()) break;
      }
    });
    while (db_->incoming().received_pair({kParis, 7})->last() < 2) {
    }
    ASSERT_TRUE(db_->incoming().Reincarnate().ok());
    EXPECT_EQ(db_->incoming().received_pair({kParis, 7})->last(), 0u) << life;
    is_reborn = true;
    sender.join();
    EXPECT_EQ(db_->incoming().received_pair({kParis, 7})->last(), 0u) << life;
  }
  EXPECT_EQ(FailedChecks(), "");
}

TEST_F(ExchangeTest, OurOwnNewLifeBeginsAnewToo) {
  FillOutbox(3);
  const Peer peer{kParis, 1};
  ASSERT_TRUE(db_->outgoing().OpenPair(peer).ok());
  ASSERT_TRUE(db_->outgoing().CutOutbox(peer, 10).ok());
  ASSERT_TRUE(db_->incoming().Reincarnate().ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(db_->outgoing().Acknowledge(peer, 1)));
  ASSERT_TRUE(db_->outgoing().OpenPair(peer).ok());
  EXPECT_EQ(db_->outgoing().CutOutbox(peer, 10)->sequence, 1u);
  EXPECT_EQ(FailedChecks(), "");
}

TEST_F(ExchangeTest, AcknowledgementsOfWhatWasNotSentAreErrors) {
  FillOutbox(4);
  const Peer peer{kParis, 1};
  ASSERT_TRUE(db_->outgoing().OpenPair(peer).ok());
  ASSERT_TRUE(db_->outgoing().CutOutbox(peer, 2).ok());
  ASSERT_TRUE(db_->outgoing().CutOutbox(peer, 2).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(db_->outgoing().Acknowledge(peer, 3)));
  ASSERT_TRUE(db_->outgoing().Acknowledge(peer, 2).ok());
  ASSERT_TRUE(db_->outgoing().Acknowledge(peer, 2).ok());  // Twice is harmless.
  const absl::Status forgotten = db_->outgoing().Acknowledge(peer, 1);
  EXPECT_TRUE(absl::IsDataLoss(forgotten));
  EXPECT_THAT(std::string(forgotten.message()), HasSubstr("gannet restore"));
  EXPECT_EQ(db_->totals().acknowledged, 40);
  EXPECT_EQ(db_->outgoing().sent_pair(kParis)->acknowledged_cash(), 40);
}

TEST_F(ExchangeTest, WhatIsSentAgainBringsNoCash) {
  FillOutbox(2);
  ASSERT_TRUE(db_->waiting()
                  .SendAgain({{kParis, FoundUrl{Page(1000)}},
                              {kParis, FoundUrl{Page(5)}}})
                  .ok());
  EXPECT_EQ(db_->totals().outbox_urls.at(kParis), 3);
  EXPECT_EQ(db_->totals().outbox, 20);
  EXPECT_TRUE(absl::IsInvalidArgument(
      db_->waiting().SendAgain({{kParis, FoundUrl{Page(6), 1}}})));
  EXPECT_TRUE(absl::IsInvalidArgument(
      db_->waiting().SendAgain({{kParis, FoundUrl{PageKey{"nonsense"}}}})));
  EXPECT_EQ(FailedChecks(), "");
}

TEST_F(ExchangeTest, UrlsInTheOutboxAreMovedToTheirNewOwner) {
  FillOutbox(5);
  ASSERT_EQ(*db_->waiting().Reroute(
                kParis,
                [](std::string_view page) -> std::optional<SiteId> {
                  if (page.ends_with("1000")) return std::nullopt;
                  if (page.ends_with("1001")) return kOslo;
                  return kParis;
                },
                {now_}),
            2);
  EXPECT_EQ(db_->records().GetPage(Page(1000))->cash(), 10);
  EXPECT_EQ(db_->totals().outbox_urls.at(kParis), 3);
  EXPECT_EQ(db_->totals().outbox_urls.at(kOslo), 1);
  EXPECT_EQ(FailedChecks(), "");
}

}  // namespace
}  // namespace gannet::storage
