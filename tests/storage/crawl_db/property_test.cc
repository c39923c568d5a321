// Random verbs, done to the DB and to the model, leave the same.
#include <gtest/gtest.h>

#include "tests/storage/crawl_db/random_verbs.h"
#include "tests/temporary_folder.h"
#include "tests/test_run.h"

namespace gannet::storage::model {
namespace {

void RunVerbs(Order order, uint64_t first_seed, uint64_t last_seed) {
  const int verbs = IsLongRun() ? 20'000 : 1'500;
  for (uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    TemporaryFolder folder;
    Model model;
    model.order = order;
    auto db = OpenSmallDb(folder.path(), order);
    for (int i = 0; i < verbs; ++i) {
      ASSERT_EQ(DoRandomVerb({seed, i}, model, db.get()), "");
      if (i % 50 == 0) {
        ASSERT_EQ(Compare(model, *db), "") << "after verb " << i;
      }
      if (i % 211 == 0) {
        db.reset();
        db = OpenSmallDb(folder.path());
      }
    }
    ASSERT_EQ(Compare(model, *db), "") << "seed " << seed;
    EXPECT_GT(model.round, 3u) << "whole rounds should have been run";
  }
}

TEST(CrawlDbPropertyTest, RandomVerbsLeaveWhatTheModelSays) {
  RunVerbs(Order::kOpic, 1, 4);
}

TEST(CrawlDbPropertyTest, RandomVerbsInBreadthFirstOrderDoToo) {
  RunVerbs(Order::kBreadthFirst, 5, 6);
}

TEST(CrawlDbPropertyTest, RandomVerbsInRandomOrderDoToo) {
  RunVerbs(Order::kRandom, 7, 8);
}

}  // namespace
}  // namespace gannet::storage::model
