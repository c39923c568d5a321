#include "jobs/fetch/committer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <mutex>

#include "absl/time/clock.h"
#include "tests/temporary_folder.h"

namespace gannet::jobs {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

storage::PageKey KeyOf(int number) {
  return storage::PageKeyOf(
      storage::Url::Parse(fmt::format("http://a.example/{}", number)).value());
}

storage::Completion Gone(int number) {
  storage::Completion done;
  done.page = KeyOf(number);
  done.outcome.set_state(proto::GONE);
  done.outcome.set_finished_reason("http 404");
  return done;
}

class CommitterTest : public testing::Test {
 protected:
  CommitterTest() {
    storage::SiteStoreSettings settings;
    settings.folder = folder_.path();
    settings.create = true;
    store_ = storage::SiteStore::Open(settings, storage::SystemClock()).value();
  }

  // A round with ten pages to fetch.
  void OpenRound() {
    storage::CrawlDb& db = store_->crawl_db();
    std::vector<storage::PageKey> seeds;
    for (int i = 0; i < 10; ++i) seeds.push_back(KeyOf(i));
    ASSERT_TRUE(db.incoming().Inject(seeds, kNow).ok());
    ASSERT_TRUE(db.round().Open(kNow).ok());
    ASSERT_TRUE(db.frontier().Claim(db.frontier().Top(10, 10).value()).ok());
    ASSERT_TRUE(db.round().PayRoot().ok());
    ASSERT_TRUE(db.round().SetPhase(proto::FETCH).ok());
  }

  std::unique_ptr<Committer> Make(CommitSettings settings) {
    return std::make_unique<Committer>(
        store_.get(), settings, storage::SystemClock(), [this](size_t pages) {
          const std::lock_guard lock(mu_);
          groups_.push_back(pages);
        });
  }
  std::vector<size_t> Groups() {
    const std::lock_guard lock(mu_);
    return groups_;
  }
  // False if it takes ten seconds.
  template <typename Condition>
  static bool Becomes(Condition condition) {
    const absl::Time end = absl::Now() + absl::Seconds(10);
    while (!condition()) {
      if (absl::Now() > end) return false;
      absl::SleepFor(absl::Milliseconds(1));
    }
    return true;
  }
  int64_t InRound() { return store_->crawl_db().totals().round_pages; }

  TemporaryFolder folder_;
  std::unique_ptr<storage::SiteStore> store_;
  std::mutex mu_;
  std::vector<size_t> groups_;
};

TEST_F(CommitterTest, AGroupIsWrittenWhenItIsFull) {
  OpenRound();
  auto committer = Make({.pages = 3, .age = absl::Hours(1)});
  committer->Complete(Gone(0));
  committer->Complete(Gone(1));
  EXPECT_TRUE(Groups().empty());
  committer->Complete(Gone(2));
  EXPECT_TRUE(Becomes([&] { return !Groups().empty(); }));
  EXPECT_EQ(InRound(), 7);
}

TEST_F(CommitterTest, AGroupIsWrittenWhenItIsOld) {
  OpenRound();
  auto committer = Make({.pages = 100, .age = absl::Milliseconds(20)});
  committer->Complete(Gone(0));
  EXPECT_TRUE(Becomes([&] { return Groups() == std::vector<size_t>{1}; }));
  EXPECT_EQ(InRound(), 9);
}

TEST_F(CommitterTest, AGroupIsWrittenWhenItIsLarge) {
  OpenRound();
  auto committer = Make({.pages = 100, .bytes = 5000, .age = absl::Hours(1)});
  storage::HostUpdate host;
  host.host.bytes = std::string(storage::HostPartOf(KeyOf(0).bytes));
  host.record.add_robots()->set_text(std::string(1000, 'x'));
  // Of a host only the newest counts.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(committer->Update(host), 0u);
  EXPECT_LT(committer->bytes(), 2000u);
  EXPECT_EQ(committer->next_to_write(), 0u);
  host.record.add_robots()->set_text(std::string(5000, 'x'));
  committer->Update(host);
  committer->WaitForRoom();  // Comes back once it was taken.
  EXPECT_TRUE(Becomes([&] { return committer->next_to_write() == 1; }));
  EXPECT_EQ(committer->bytes(), 0u);
  EXPECT_EQ(store_->crawl_db().records().GetHost(host.host)->robots_size(), 2);
  storage::Completion page = Gone(0);
  for (int i = 1; i < 100; ++i) page.outlinks.push_back(KeyOf(i));
  committer->Complete(page);
  EXPECT_TRUE(Becomes([&] { return Groups().size() == 2; }));
  EXPECT_EQ(InRound(), 9);
}

TEST_F(CommitterTest, TheEndWritesWhatIsLeft) {
  OpenRound();
  auto committer = Make({.pages = 100, .age = absl::Hours(1)});
  committer->Complete(Gone(0));
  committer->Release({KeyOf(1), KeyOf(2)});
  EXPECT_TRUE(committer->Finish().ok());
  EXPECT_EQ(Groups(), std::vector<size_t>{1});
  EXPECT_EQ(InRound(), 7);
  EXPECT_EQ(store_->crawl_db().totals().frontier_pages, 2);
}

TEST_F(CommitterTest, OfAHostOnlyTheNewestStateIsWritten) {
  OpenRound();
  auto committer = Make({.pages = 100, .age = absl::Hours(1)});
  storage::HostUpdate host;
  host.host.bytes = std::string(storage::HostPartOf(KeyOf(0).bytes));
  for (const uint32_t failures : {1u, 2u, 5u}) {
    host.record.set_failures(failures);
    committer->Update(host);
  }
  EXPECT_TRUE(committer->Finish().ok());
  EXPECT_EQ(store_->crawl_db().records().GetHost(host.host)->failures(), 5u);
}

TEST_F(CommitterTest, AfterAnErrorNothingMoreIsWrittenAndTheEndTellsIt) {
  auto committer = Make({.pages = 1, .age = absl::Hours(1)});
  committer->Complete(Gone(0));  // There is no round.
  EXPECT_TRUE(Becomes([&] { return committer->failed(); }));
  OpenRound();
  committer->Complete(Gone(1));
  EXPECT_EQ(committer->Finish().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(InRound(), 10);
}

}  // namespace
}  // namespace gannet::jobs
