// What a verb promises to another process or site outlives a power cut: it is
// synced when the verb returns, and so are all writes before it.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>

#include "absl/synchronization/notification.h"
#include "storage/crawl_db/columns.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/engine/memory_store.h"
#include "tests/storage/crawl_db/random_verbs.h"

namespace gannet::storage {
namespace {

using model::PageOf;

constexpr SiteId kParis{2}, kTokyo{1};
constexpr Peer kToParis{kParis, 5}, kFromTokyo{kTokyo, 9};

class PromiseTest : public testing::Test {
 protected:
  // Does the verb after a write that was not synced.
  void Promises(const char* what, const std::function<absl::Status()>& verb) {
    WriteSomething();
    const absl::Status done = verb();
    EXPECT_TRUE(done.ok()) << what << ": " << done;
    EXPECT_EQ(disk_.unsynced_batches(), 0u) << what;
  }
  void WriteSomething() {
    HostUpdate update{HostKey{std::string(HostPartOf(PageOf(2, 2, 2).bytes))},
                      {}};
    update.record.set_failures(++writes_);
    ASSERT_TRUE(db_->records().PutHost(update).ok());
    ASSERT_GT(disk_.unsynced_batches(), 0u);
  }
  void OpenAgain() {
    db_.reset();
    db_ = CrawlDb::OpenOn(disk_.Open()).value();
  }
  static Delivery Batch(uint64_t sequence) {
    Delivery delivery;
    delivery.from = kFromTokyo;
    delivery.sequence = sequence;
    delivery.mine = {FoundUrl{PageOf(0, 0, static_cast<int>(sequence)), 0}};
    return delivery;
  }
  absl::Status Receive(uint64_t sequence) {
    return db_->incoming().Receive(Batch(sequence), {now_}).status();
  }

  MemoryDisk disk_{MakeColumns().size()};
  std::unique_ptr<CrawlDb> db_ = CrawlDb::OpenOn(disk_.Open()).value();
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  int writes_ = 0;
};

TEST_F(PromiseTest, WhatOthersAreToldIsOnTheDisk) {
  const PageKey page = PageOf(0, 0, 0), moving = PageOf(1, 0, 0);
  Promises("seeds", [&] {
    return db_->incoming().Inject({page, moving}, now_).status();
  });
  Promises("a batch", [&] { return Receive(1); });
  Promises("a batch that came before", [&] { return Receive(1); });
  Promises("the last number",
           [&] { return db_->incoming().PromisedPair(kFromTokyo).status(); });
  Promises("a new pair", [&] { return db_->outgoing().OpenPair(kToParis); });
  const FoundUrl found{PageOf(2, 0, 0), 0};
  ASSERT_TRUE(db_->waiting().SendAgain({{kParis, found}}).ok());
  Promises("URLs to be sent",
           [&] { return db_->outgoing().CutOutbox(kToParis, 10).status(); });
  Promises("pages to be sent", [&] {
    const HostKey host{std::string(HostPartOf(moving.bytes))};
    return db_->moves().CutPages(kToParis, {host}, 10).status();
  });
  Promises("that all is sent",
           [&] { return db_->moves().CutComplete(kToParis, 3); });
  Promises("what is being sent",
           [&] { return db_->outgoing().Sending(kParis).status(); });
  Promises("no pair", [&] { return db_->outgoing().ClosePair(kParis); });
  Promises("a block",
           [&] { return db_->blocks().Block("d2.example").status(); });
  Promises("no block",
           [&] { return db_->blocks().Unblock("d2.example").status(); });
  Promises("a note", [&] { return db_->records().PutNote("n", "text"); });
  Promises("a name", [&] {
    proto::SiteIdentity identity;
    identity.set_name("oslo");
    return db_->records().SetIdentity(identity);
  });
  Promises("who it is",
           [&] { return db_->records().PromisedIdentity().status(); });
  Promises("a new life", [&] { return db_->incoming().Reincarnate(); });

  ASSERT_TRUE(db_->round().Open(now_).ok());
  ASSERT_TRUE(db_->frontier().Claim(*db_->frontier().Top(10, 10)).ok());
  ASSERT_TRUE(db_->round().PayRoot().ok());
  ASSERT_TRUE(db_->round().SetPhase(proto::FETCH).ok());
  Promises("completed pages", [&] {
    std::vector<Completion> all;
    const auto fetch_list = db_->round().FetchList({}, 10).value();
    for (const PageKey& open : fetch_list) {
      all.emplace_back().page = open;
      all.back().outcome.set_state(proto::GONE);
    }
    EXPECT_FALSE(all.empty());
    return db_->round().Complete(all, {}, {}).status();
  });
  ASSERT_TRUE(db_->round().SetPhase(proto::UPDATE).ok());
  Promises("the end of a round", [&] { return db_->round().Close("{}"); });
  Promises("a page forgotten", [&] { return db_->records().Forget(page); });
}

// An earlier process was killed between its write and its sync.
TEST_F(PromiseTest, WhatAnEarlierProcessWroteIsSyncedBeforeItIsTold) {
  ASSERT_TRUE(db_->outgoing().OpenPair(kToParis).ok());
  ASSERT_TRUE(db_->incoming().Inject({PageOf(1, 0, 0)}, now_).ok());
  for (const auto& [what, tell] :
       {std::pair<const char*, std::function<absl::Status()>>{
            "a repeated batch", [&] { return Receive(1); }},
        {"the last number",
         [&] { return db_->incoming().PromisedPair(kFromTokyo).status(); }},
        {"what is being sent",
         [&] { return db_->outgoing().Sending(kParis).status(); }}}) {
    WriteSomething();
    OpenAgain();
    if (std::string(what) == "what is being sent") {
      const HostKey host{std::string(HostPartOf(PageOf(1, 0, 0).bytes))};
      ASSERT_TRUE(db_->moves().CutPages(kToParis, {host}, 10).ok());
      WriteSomething();
      OpenAgain();
    }
    ASSERT_GT(disk_.unsynced_batches(), 0u);
    EXPECT_TRUE(tell().ok()) << what;
    EXPECT_EQ(disk_.unsynced_batches(), 0u) << what;
  }
}

// Rows can be read a moment before the write that made them returns.
TEST_F(PromiseTest, ANumberThatIsJustBeingWrittenIsSyncedBeforeItIsTold) {
  ASSERT_TRUE(Receive(1).ok());
  absl::Notification visible;
  std::atomic<bool> told = false;
  disk_.CallAfterWrites([&] {
    if (visible.HasBeenNotified()) return;
    visible.Notify();
    for (int i = 0; i < 100 && !told; ++i)
      absl::SleepFor(absl::Milliseconds(1));
  });
  std::thread receiver([&] { EXPECT_TRUE(Receive(2).ok()); });
  visible.WaitForNotification();
  const auto pair = db_->incoming().PromisedPair(kFromTokyo);
  const size_t unsynced = disk_.unsynced_batches();
  told = true;
  receiver.join();
  ASSERT_TRUE(pair.ok());
  EXPECT_EQ(pair->last(), 2u);
  EXPECT_EQ(unsynced, 0u);
}

TEST_F(PromiseTest, AfterAFailedSyncNothingIsPromisedAnyMore) {
  WriteSomething();
  disk_.FailWritesWith(absl::ResourceExhaustedError("disk full"));
  EXPECT_TRUE(absl::IsResourceExhausted(db_->records().PutNote("n", "text")));
  disk_.FailWritesWith(absl::OkStatus());
  EXPECT_FALSE(db_->incoming().PromisedPair(kFromTokyo).ok());
  EXPECT_FALSE(db_->broken().ok());
}

}  // namespace
}  // namespace gannet::storage
