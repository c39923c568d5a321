// Verify finds what is broken. Each test breaks one thing by writing to the
// store under the DB.
#include <gtest/gtest.h>

#include "storage/crawl_db/columns.h"
#include "storage/crawl_db/page_rows.h"
#include "storage/crawl_db/store.h"
#include "storage/engine/memory_store.h"
#include "tests/storage/crawl_db/random_verbs.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

using model::PageOf;

class VerifyTest : public testing::Test {
 protected:
  VerifyTest() {
    auto db = model::OpenSmallDb(folder_.path());
    std::vector<FoundUrl> urls;
    for (int i = 0; i < 40; ++i)
      urls.push_back({PageOf(i % 3, i % 2, i), 100 + i});
    EXPECT_TRUE(db->incoming().PutIfAbsent(urls, {now_}).ok());
    EXPECT_EQ(model::FailedChecks(*db, /*full=*/true), "");
  }

  // Writes `change` into the store, without the DB's checks.
  void Break(const std::function<void(Store&, Edit&)>& change) {
    auto store = *Store::Open(folder_.path(), {});
    Edit edit;
    change(*store, edit);
    ASSERT_TRUE(store->Commit(edit).ok());
  }

  // What the incremental and the full check say after the damage.
  std::pair<std::string, std::string> Verify() {
    auto db = model::OpenSmallDb(folder_.path());
    std::string changed = model::FailedChecks(*db, false);
    return {std::move(changed), model::FailedChecks(*db, true)};
  }

  TemporaryFolder folder_;
  const absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  const std::string page_ = PageOf(1, 1, 1).bytes;
};

TEST_F(VerifyTest, APageThatIsNowhereIsNamed) {
  Break([&](Store& store, Edit& edit) {
    edit.Delete(Column::kFrontier,
                keys::ActiveFrontier(store.StepOf(page_, *store.GetPage(page_)),
                                     page_));
  });
  const auto [changed, full] = Verify();
  EXPECT_NE(changed.find("example,d1,h1,)http/p1 is READY but in"),
            std::string::npos)
      << changed;
  EXPECT_NE(full.find("example,d1,h1,)http/p1 is READY but in"),
            std::string::npos)
      << full;
}

TEST_F(VerifyTest, APageInTwoPlacesIsNamed) {
  Break([&](Store& /*store*/, Edit& edit) {
    edit.Put(Column::kRounds, keys::FetchList(page_), {});
  });
  const auto [changed, full] = Verify();
  EXPECT_NE(changed.find("open round 1"), std::string::npos) << changed;
  EXPECT_NE(full.find("open round 1"), std::string::npos) << full;
}

TEST_F(VerifyTest, APageOnTheWrongStepIsFound) {
  Break([&](Store& store, Edit& edit) {
    const uint8_t step = store.StepOf(page_, *store.GetPage(page_));
    edit.Delete(Column::kFrontier, keys::ActiveFrontier(step, page_));
    edit.Put(Column::kFrontier, keys::ActiveFrontier(step + 1, page_), {});
  });
  const auto [changed, full] = Verify();
  EXPECT_NE(changed, "");
  EXPECT_NE(full, "");
}

TEST_F(VerifyTest, ARowTooManyIsFoundAmongTheChanges) {
  Break([&](Store& /*store*/, Edit& edit) {
    edit.Put(Column::kFrontier, keys::ActiveFrontier(250, page_), {});
    edit.Put(Column::kSchedule, keys::ScheduledPage(77, page_), {});
  });
  const auto [changed, full] = Verify();
  EXPECT_NE(changed.find("a row too many for"), std::string::npos) << changed;
  EXPECT_NE(full, "");
}

TEST_F(VerifyTest, APageAsideOfAHostThatDoesNotRestIsFound) {
  Break([&](Store& store, Edit& edit) {
    const uint8_t step = store.StepOf(page_, *store.GetPage(page_));
    edit.Delete(Column::kFrontier, keys::ActiveFrontier(step, page_));
    edit.Put(Column::kFrontier, keys::RestingFrontier(step, page_), {});
  });
  EXPECT_NE(Verify().second.find("set aside for good"), std::string::npos);
}

TEST_F(VerifyTest, WhatTheCallerReportsIsCheckedAgain) {
  auto db = model::OpenSmallDb(folder_.path());
  ASSERT_TRUE(
      db->incoming().PutIfAbsent({FoundUrl{PageOf(2, 2, 39), 1}}, {now_}).ok());
  int looks = 0;
  const auto look = [&](std::string_view, const proto::PageRecord&) {
    ++looks;
    return false;
  };
  ASSERT_TRUE(db->checks().Verify(false, look).ok());
  EXPECT_EQ(looks, 1);
  ASSERT_TRUE(db->checks().Verify(false, look).ok());
  EXPECT_EQ(looks, 2);
}

TEST_F(VerifyTest, TwoErrorsThatCancelInTheCountsAreFound) {
  Break([&](Store& store, Edit& edit) {
    const uint8_t step = store.StepOf(page_, *store.GetPage(page_));
    edit.Delete(Column::kFrontier, keys::ActiveFrontier(step, page_));
    const std::string other = PageOf(0, 0, 0).bytes;
    edit.Put(Column::kFrontier, keys::ActiveFrontier(99, other), {});
  });
  EXPECT_NE(Verify().second, "");
}

TEST_F(VerifyTest, AUnitOfCashFromNowhereIsFound) {
  Break([&](Store& store, Edit& edit) {
    proto::PageRecord record = *store.GetPage(page_);
    record.set_cash(record.cash() + 1);
    edit.PutMessage(Column::kPages, page_, record);
  });
  EXPECT_NE(Verify().second.find("I3 cash of pages"), std::string::npos);
}

TEST_F(VerifyTest, ALedgerThatDoesNotBalanceIsFoundWithoutReadingThePages) {
  Break([&](Store&, Edit& edit) { edit.delta.root = 1; });
  EXPECT_NE(Verify().first.find("I3 ledger"), std::string::npos);
}

TEST_F(VerifyTest, AWrongCountOfAHostsPagesIsFound) {
  Break([&](Store&, Edit& edit) {
    edit.host_pages[std::string(HostPartOf(page_))] = 1;
  });
  EXPECT_NE(Verify().second.find("pages by host"), std::string::npos);
}

TEST_F(VerifyTest, ARecordThatCannotBeDecodedIsFound) {
  Break([&](Store& /*store*/, Edit& edit) {
    edit.Put(Column::kPages, page_, "\xff\xff\xff");
  });
  const auto [changed, full] = Verify();
  EXPECT_NE(changed.find("every row can be read"), std::string::npos);
  EXPECT_NE(full.find("every row can be read"), std::string::npos);
}

TEST(VerifyUnreadableTest, AJournalThatCannotBeReadIsNoEmptyJournal) {
  MemoryDisk disk(MakeColumns().size());
  const auto db = CrawlDb::OpenOn(disk.Open()).value();
  EXPECT_EQ(model::FailedChecks(*db, /*full=*/true), "");
  disk.FailLookUpsWith(absl::DataLossError("a damaged block"), Column::kRounds);
  EXPECT_NE(model::FailedChecks(*db, /*full=*/true).find("a damaged block"),
            std::string::npos);
}

}  // namespace
}  // namespace gannet::storage
