// Power cuts at every moment, by the thousand: the crawl DB on a store in
// memory that forgets what was not synced (storage/engine/memory_store.h).
// Whatever is left must be a state in which all invariants hold; and where the
// cut falls between two verbs, it must be what the model says.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "storage/crawl_db/columns.h"
#include "storage/engine/memory_store.h"
#include "tests/storage/crawl_db/random_verbs.h"
#include "tests/test_run.h"

namespace gannet::storage::model {
namespace {

// The model after a verb, and how many batches the disk had by then.
struct Moment {
  Model model;
  size_t batches = 0;
};

TEST(CrawlDbCrashTest, APowerCutLeavesEachVerbDoneOrNotDone) {
  const int histories = IsLongRun() ? 20'000 : 600;
  std::mt19937_64 random(5);
  int between_verbs = 0, lost = 0;
  for (int history = 0; history < histories; ++history) {
    SCOPED_TRACE(history);
    MemoryDisk disk(MakeColumns().size());
    auto db = CrawlDb::OpenOn(disk.Open()).value();
    const auto seed = static_cast<uint64_t>(history);
    std::vector<Moment> moments = {{Model(), disk.batches()}};
    const int cuts = 1 + static_cast<int>(random() % 3);
    int number = 0;
    for (int cut = 0; cut < cuts; ++cut) {
      for (int end = number + 1 + static_cast<int>(random() % 60); number < end;
           ++number) {
        Model next = moments.back().model;
        ASSERT_EQ(DoRandomVerb({seed, number}, next, db.get()), "");
        moments.push_back({std::move(next), disk.batches()});
      }
      db.reset();
      const size_t kept = random() % (disk.unsynced_batches() + 1);
      lost += static_cast<int>(disk.unsynced_batches() - kept);
      disk.CutPower(kept);
      const size_t left = disk.batches();
      while (moments.back().batches > left) moments.pop_back();
      db = CrawlDb::OpenOn(disk.Open()).value();
      if (moments.back().batches == left) {
        ++between_verbs;
        ASSERT_EQ(Compare(moments.back().model, *db), "");
      } else {  // The cut falls within a verb of many writes.
        ASSERT_EQ(FailedChecks(*db, /*full=*/true), "");
        break;
      }
      // Verify has written; that too may be lost.
      moments.push_back({moments.back().model, disk.batches()});
    }
  }
  EXPECT_GT(between_verbs, histories / 2);
  EXPECT_GT(lost, histories);
}

}  // namespace
}  // namespace gannet::storage::model
