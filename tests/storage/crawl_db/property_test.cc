// Random verbs against the model.
#include <gtest/gtest.h>

#include "tests/storage/crawl_db/random_verbs.h"
#include "tests/temporary_folder.h"
#include "tests/test_run.h"

namespace gannet::storage::model {
namespace {

TEST(CrawlDbPropertyTest, RandomVerbsLeaveWhatTheModelSays) {
  const int verbs = IsLongRun() ? 20'000 : 1'500;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    TemporaryFolder folder;
    Model model;
    auto db = OpenSmallDb(folder.path());
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

}  // namespace
}  // namespace gannet::storage::model
