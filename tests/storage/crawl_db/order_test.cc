// The order of the frontier, which a crawl DB keeps for good. Whole rounds in
// each order are in property_test.cc.
#include "storage/crawl_db/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/crawl_db/random_verbs.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

using model::OpenSmallDb;
using model::PageOf;
using testing::ElementsAre;
using testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

std::vector<PageKey> Top(CrawlDb& db, size_t width) {
  const Selection selection = *db.frontier().Top(width, width);
  std::vector<PageKey> pages;
  for (const FrontierPage& p : selection.pages) pages.push_back(p.page);
  return pages;
}

TEST(OrderTest, BreadthFirstTakesTheShallowPageBeforeTheRichOne) {
  TemporaryFolder folder;
  auto db = OpenSmallDb(folder.path(), Order::kBreadthFirst);
  const PageKey deep = PageOf(0, 0, 1), shallow = PageOf(0, 0, 2),
                seed = PageOf(0, 0, 3);
  ASSERT_TRUE(
      db->incoming()
          .PutIfAbsent({{deep, 1'000'000, 300}, {shallow, 1, 1}, {seed, 0, 0}},
                       {kNow})
          .ok());
  EXPECT_THAT(Top(*db, 3), ElementsAre(seed, shallow, deep));
  // It is found again with more cash and less depth, and stays where it is.
  ASSERT_TRUE(db->incoming().PutIfAbsent({{deep, 1'000'000, 0}}, {kNow}).ok());
  EXPECT_THAT(Top(*db, 3), ElementsAre(seed, shallow, deep));
  EXPECT_EQ(model::FailedChecks(*db, true), "");
}

TEST(OrderTest, RandomOrderHasNothingToDoWithCashOrDepth) {
  TemporaryFolder poor_folder, rich_folder;
  auto poor = OpenSmallDb(poor_folder.path(), Order::kRandom);
  auto rich = OpenSmallDb(rich_folder.path(), Order::kRandom);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(
        poor->incoming().PutIfAbsent({{PageOf(0, 0, i), 1, 1}}, {kNow}).ok());
    ASSERT_TRUE(rich->incoming()
                    .PutIfAbsent({{PageOf(0, 0, i), 1 << i % 20,
                                   static_cast<uint32_t>(i)}},
                                 {kNow})
                    .ok());
  }
  EXPECT_EQ(Top(*poor, 50), Top(*rich, 50));
  EXPECT_EQ(model::FailedChecks(*rich, true), "");
}

TEST(OrderTest, WithoutASettingTheDbKeepsItsOrder) {
  TemporaryFolder folder;
  {
    auto db = OpenSmallDb(folder.path(), Order::kRandom);
    EXPECT_EQ(db->order(), Order::kRandom);
  }
  EXPECT_EQ(OpenSmallDb(folder.path())->order(), Order::kRandom);
  TemporaryFolder other;
  EXPECT_EQ(OpenSmallDb(other.path())->order(), Order::kOpic);
}

TEST(OrderTest, TheFirstPageFixesTheOrder) {
  TemporaryFolder folder;
  OpenSmallDb(folder.path(), Order::kRandom).reset();
  {
    auto db = OpenSmallDb(folder.path(), Order::kBreadthFirst);
    ASSERT_TRUE(db->incoming().Inject({PageOf(0, 0, 1)}, kNow).ok());
  }
  const absl::Status refused =
      CrawlDb::Open({.folder = folder.path(), .order = Order::kOpic}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("has the order 'breadth-first', and crawl.order asks "
                        "for 'opic'"));
  EXPECT_EQ(OpenSmallDb(folder.path(), Order::kBreadthFirst)->order(),
            Order::kBreadthFirst);
}

}  // namespace
}  // namespace gannet::storage
