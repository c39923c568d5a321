// A block takes effect at once, as the webmaster who complained expects, and
// the ledger still balances.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/store.h"
#include "tests/storage/crawl_db/random_verbs.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

using model::PageOf;
using testing::ElementsAre;
using testing::IsEmpty;

class BlockTest : public testing::Test {
 protected:
  BlockTest() : db_(model::OpenSmallDb(folder_.path())) {}
  // Whatever a test does, the invariants hold after it.
  ~BlockTest() override {
    EXPECT_EQ(model::FailedChecks(*db_, false), "");
    EXPECT_EQ(model::FailedChecks(*db_, true), "");
  }

  void Inject(std::vector<PageKey> pages) {
    ASSERT_TRUE(db_->incoming().Inject(pages, now_).ok());
  }
  static PageKey KeyOf(std::string_view url) {
    return PageKeyOf(*Url::Parse(url));
  }

  TemporaryFolder folder_;
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  std::unique_ptr<CrawlDb> db_;
};

TEST_F(BlockTest, KnownPagesLeaveTheFrontierAndTheirCashGoesToTheRoot) {
  Inject({PageOf(0, 0, 1), PageOf(0, 1, 1), PageOf(1, 0, 1)});
  EXPECT_EQ(*db_->blocks().Block("d0.example"), 2);
  EXPECT_EQ(db_->totals().frontier_pages, 1);
  EXPECT_EQ(db_->totals().finished_pages, 2);
  EXPECT_EQ(db_->totals().root, 2 * kSeedCash);
  const proto::PageRecord page = *db_->records().GetPage(PageOf(0, 1, 1));
  EXPECT_EQ(page.state(), proto::BLOCKED);
  EXPECT_EQ(page.place(), proto::FINISHED);
  EXPECT_EQ(page.finished_reason(), kBlockedByOperator);
  EXPECT_EQ(page.cash(), 0);
  EXPECT_THAT(*db_->blocks().Blocked(), ElementsAre("d0.example"));
}

TEST_F(BlockTest, NewLinksToABlockedDomainAreRefusedAndCounted) {
  ASSERT_TRUE(db_->blocks().Block("d0.example").ok());
  const PutCounts found = *db_->incoming().PutIfAbsent(
      {FoundUrl{PageOf(0, 0, 1), 70}, FoundUrl{PageOf(1, 0, 1), 30}}, {now_});
  EXPECT_EQ(found.added, 1);
  EXPECT_EQ(found.blocked, 1);
  EXPECT_EQ(db_->totals().dropped.at(kBlockedByOperator), 70);
  EXPECT_EQ(db_->totals().dropped_urls, 1);
  const PutCounts seeds = *db_->incoming().Inject({PageOf(0, 0, 2)}, now_);
  EXPECT_EQ(seeds.added, 0);
  EXPECT_EQ(seeds.blocked, 1);
  EXPECT_EQ(db_->totals().injected, 0);
}

TEST_F(BlockTest, PagesOfTheOpenRoundLeaveItAndAreNotCompleted) {
  Inject({PageOf(0, 0, 1), PageOf(1, 0, 1)});
  ASSERT_TRUE(db_->round().Open(now_).ok());
  ASSERT_EQ(*db_->frontier().Claim(*db_->frontier().Top(10, 10)), 2);
  ASSERT_TRUE(db_->round().PayRoot().ok());
  ASSERT_TRUE(db_->round().SetPhase(proto::FETCH).ok());
  EXPECT_EQ(*db_->blocks().Block("d0.example"), 1);
  EXPECT_THAT(*db_->round().FetchList(PageKey{}, 10),
              ElementsAre(PageOf(1, 0, 1)));
  // The fetcher was just fetching it.
  Completion late;
  late.page = PageOf(0, 0, 1);
  late.outcome.set_state(proto::FETCHED);
  EXPECT_EQ(*db_->round().Complete({late}, {}, {}), 0);
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 1))->state(), proto::BLOCKED);
}

TEST_F(BlockTest, ScheduledPagesDoNotComeDue) {
  Inject({PageOf(0, 0, 1)});
  ASSERT_TRUE(db_->round().Open(now_).ok());
  ASSERT_TRUE(db_->frontier().Claim(*db_->frontier().Top(10, 10)).ok());
  ASSERT_TRUE(db_->round().PayRoot().ok());
  ASSERT_TRUE(db_->round().SetPhase(proto::FETCH).ok());
  Completion done;
  done.page = PageOf(0, 0, 1);
  done.outcome.set_state(proto::FETCHED);
  done.outcome.set_visited_ms(ToMillis(now_));
  done.ready = now_ + absl::Hours(1);
  ASSERT_EQ(*db_->round().Complete({done}, {}, {}), 1);
  EXPECT_EQ(*db_->blocks().Block("d0.example"), 1);
  EXPECT_EQ(*db_->frontier().NextDue(), std::nullopt);
  // After the undo it is what it was, and due when it was.
  EXPECT_EQ(*db_->blocks().Unblock("d0.example"), 1);
  const proto::PageRecord page = *db_->records().GetPage(PageOf(0, 0, 1));
  EXPECT_EQ(page.state(), proto::FETCHED);
  EXPECT_FALSE(page.has_before_block());
  EXPECT_EQ(page.finished_reason(), "");
  EXPECT_EQ(db_->totals().scheduled_pages, 1);
  EXPECT_EQ(*db_->frontier().NextDue(), now_ + absl::Hours(1));
  EXPECT_EQ(*db_->frontier().WakeDue(now_ + absl::Minutes(59), 10, 10), 0);
  EXPECT_EQ(*db_->frontier().WakeDue(now_ + absl::Hours(1), 10, 10), 1);
}

// Records of older versions do not say what the page was.
TEST_F(BlockTest, PagesThatAnOlderVersionTookOutComeBackToTheFrontier) {
  Inject({PageOf(0, 0, 1), PageOf(0, 0, 2)});
  ASSERT_EQ(*db_->blocks().Block("d0.example"), 2);
  db_.reset();
  {
    auto store = *Store::Open(folder_.path(), {});
    Edit edit;
    for (const int i : {1, 2}) {
      proto::PageRecord record = *store->GetPage(PageOf(0, 0, i).bytes);
      record.clear_before_block();
      if (i == 2) record.set_visited_ms(ToMillis(now_));
      edit.PutMessage(Column::kPages, PageOf(0, 0, i).bytes, record);
    }
    ASSERT_TRUE(store->Commit(edit).ok());
  }
  db_ = model::OpenSmallDb(folder_.path());
  EXPECT_EQ(*db_->blocks().Unblock("d0.example"), 2);
  EXPECT_EQ(db_->totals().frontier_pages, 2);
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 1))->state(), proto::NEW);
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 2))->state(), proto::BLOCKED);
}

TEST_F(BlockTest, UndoPutsBackWhatTheBlockTookOutAndNothingElse) {
  Inject({PageOf(0, 0, 1), PageOf(0, 0, 2)});
  ASSERT_TRUE(db_->round().Open(now_).ok());
  ASSERT_EQ(*db_->frontier().Claim(*db_->frontier().Top(1, 1)), 1);
  ASSERT_TRUE(db_->round().PayRoot().ok());
  ASSERT_TRUE(db_->round().SetPhase(proto::FETCH).ok());
  const PageKey gone = db_->round().FetchList(PageKey{}, 1)->front();
  Completion done;
  done.page = gone;
  done.outcome.set_state(proto::GONE);
  done.outcome.set_finished_reason("404");
  ASSERT_EQ(*db_->round().Complete({done}, {}, {}), 1);

  EXPECT_EQ(*db_->blocks().Block("d0.example"), 1);
  EXPECT_EQ(*db_->blocks().Unblock("d0.example"), 1);
  EXPECT_EQ(db_->records().GetPage(gone)->state(), proto::GONE);
  EXPECT_EQ(db_->records().GetPage(gone)->finished_reason(), "404");
  EXPECT_EQ(db_->totals().frontier_pages, 1);
  EXPECT_EQ(db_->totals().pages_by_state[proto::NEW], 1);
  EXPECT_THAT(*db_->blocks().Blocked(), IsEmpty());
  EXPECT_EQ(db_->incoming()
                .PutIfAbsent({FoundUrl{PageOf(0, 2, 9), 1}}, {now_})
                ->added,
            1);
}

TEST_F(BlockTest, ADomainThatIsNotBlockedCannotBeUnblocked) {
  EXPECT_TRUE(absl::IsNotFound(db_->blocks().Unblock("d0.example").status()));
}

TEST_F(BlockTest, ABlockedHostLeavesItsSiblingsAlone) {
  Inject({PageOf(0, 0, 1), PageOf(0, 1, 1)});
  EXPECT_EQ(*db_->blocks().Block("h1.d0.example"), 1);
  EXPECT_TRUE(db_->blocks().IsBlocked(PageOf(0, 1, 7)));
  EXPECT_FALSE(db_->blocks().IsBlocked(PageOf(0, 0, 7)));
  // Longer names with the same end are other domains.
  Inject({KeyOf("http://xd0.example/"), KeyOf("http://h1.d0.example.org/")});
  EXPECT_EQ(db_->totals().frontier_pages, 3);
}

TEST_F(BlockTest, APageThatTwoBlocksNameComesBackOnlyAfterBoth) {
  Inject({PageOf(0, 0, 1)});
  EXPECT_EQ(*db_->blocks().Block("d0.example"), 1);
  EXPECT_EQ(*db_->blocks().Block("h0.d0.example"), 0);
  EXPECT_EQ(*db_->blocks().Unblock("d0.example"), 0);
  EXPECT_EQ(*db_->blocks().Unblock("h0.d0.example"), 1);
}

TEST_F(BlockTest, OfAPublicSuffixOnlyTheHostItselfIsBlocked) {
  ASSERT_TRUE(db_->blocks().Block("co.uk").ok());
  EXPECT_TRUE(db_->blocks().IsBlocked(KeyOf("http://co.uk/")));
  EXPECT_FALSE(db_->blocks().IsBlocked(KeyOf("http://example.co.uk/")));
}

TEST_F(BlockTest, AddressesCanBeBlocked) {
  ASSERT_TRUE(db_->blocks().Block("127.0.0.1").ok());
  EXPECT_TRUE(db_->blocks().IsBlocked(KeyOf("http://127.0.0.1:8080/x")));
  EXPECT_FALSE(db_->blocks().IsBlocked(KeyOf("http://127.0.0.2/")));
}

TEST_F(BlockTest, WhatIsNoHostNameIsRefused) {
  for (const char* name : {"", "a b", "http://a.example/", "A.example", "a/b",
                           "a.example:80", "a..example"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(db_->blocks().Block(name).status()))
        << name;
  }
}

TEST_F(BlockTest, ABlockIsRememberedByTheNextProcess) {
  ASSERT_TRUE(db_->blocks().Block("d0.example").ok());
  db_.reset();
  db_ = model::OpenSmallDb(folder_.path());
  EXPECT_TRUE(db_->blocks().IsBlocked(PageOf(0, 0, 0)));
}

// The DB is as a process leaves it that is killed after the list was written.
TEST_F(BlockTest, ABlockThatAKillInterruptedIsFinishedWhenTheDbIsOpened) {
  Inject({PageOf(0, 0, 1), PageOf(1, 0, 1)});
  const auto leave_at = [&](proto::BlockList::Stage stage) {
    db_.reset();
    {
      auto store = *Store::Open(folder_.path(), {});
      proto::BlockList list;
      proto::BlockList::Entry* entry = list.add_entries();
      entry->set_domain("d0.example");
      entry->set_stage(stage);
      Edit edit;
      edit.PutMessage(Column::kMeta, keys::kBlockList, list);
      ASSERT_TRUE(store->Commit(edit).ok());
    }
    db_ = model::OpenSmallDb(folder_.path());
  };
  leave_at(proto::BlockList::TAKING_OUT);
  EXPECT_EQ(db_->records().GetPage(PageOf(0, 0, 1))->state(), proto::BLOCKED);
  EXPECT_EQ(db_->totals().frontier_pages, 1);
  EXPECT_TRUE(db_->blocks().IsBlocked(PageOf(0, 0, 2)));
  leave_at(proto::BlockList::PUTTING_BACK);
  EXPECT_EQ(db_->totals().frontier_pages, 2);
  EXPECT_FALSE(db_->blocks().IsBlocked(PageOf(0, 0, 2)));
  EXPECT_THAT(*db_->blocks().Blocked(), IsEmpty());
}

TEST_F(BlockTest, ADomainOfManyBatchesIsTakenOutAndPutBackWhole) {
  std::vector<PageKey> pages;
  for (int i = 0; i < 3500; ++i) pages.push_back(PageOf(0, i % 3, i));
  Inject(pages);
  Inject({PageOf(1, 0, 0)});
  EXPECT_EQ(*db_->blocks().Block("d0.example"), 3500);
  EXPECT_EQ(db_->totals().frontier_pages, 1);
  EXPECT_EQ(*db_->blocks().Unblock("d0.example"), 3500);
  EXPECT_EQ(db_->totals().frontier_pages, 3501);
}

}  // namespace
}  // namespace gannet::storage
