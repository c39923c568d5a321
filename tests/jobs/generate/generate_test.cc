#include "jobs/generate/generate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "federation/map/map_changes.h"
#include "federation/ownership/ownership.h"
#include "tests/temporary_folder.h"

namespace gannet::jobs {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

storage::PageKey KeyOf(const std::string& url) {
  return storage::PageKeyOf(storage::Url::Parse(url).value());
}

class GenerateTest : public testing::Test {
 protected:
  GenerateTest() {
    storage::CrawlDbSettings settings;
    settings.folder = folder_.path();
    db_ = storage::CrawlDb::Open(settings).value();
  }

  void Inject(int hosts, int pages_each) {
    std::vector<storage::PageKey> seeds;
    for (int host = 0; host < hosts; ++host) {
      for (int page = 0; page < pages_each; ++page) {
        seeds.push_back(
            KeyOf(fmt::format("http://h{}.example/{}", host, page)));
      }
    }
    ASSERT_TRUE(db_->incoming().Inject(seeds, kNow).ok());
  }

  // Fetches one page in a round, and defers all its links.
  void Defer(const std::vector<std::string>& urls) {
    Inject(1, 1);
    ASSERT_TRUE(db_->round().Open(kNow).ok());
    ASSERT_EQ(Generate(*db_, {.width = 10, .per_host = 10}).value(), 1);
    ASSERT_TRUE(db_->round().SetPhase(proto::FETCH).ok());
    storage::Completion done;
    done.page = KeyOf("http://h0.example/0");
    done.outcome.set_state(proto::FETCHED);
    done.outcome.set_finished_reason("fetched");
    for (const std::string& url : urls) done.outlinks.push_back(KeyOf(url));
    ASSERT_TRUE(db_->round().Complete({done}, {}, {}).ok());
    ASSERT_TRUE(db_->round().SetPhase(proto::UPDATE).ok());
    storage::Settlement batch;
    ASSERT_TRUE(
        db_->round()
            .ForEachOutlinks([&](std::string_view, const auto& segment) {
              for (const std::string& target : segment.targets()) {
                batch.local.push_back({storage::PageKey{target},
                                       segment.cash_each(), segment.depth()});
                batch.cursor = std::max(batch.cursor, target);
              }
            })
            .ok());
    batch.least_cash_for_new = storage::kSeedCash * 2;
    ASSERT_TRUE(db_->round().Settle(batch, {.now = kNow}).ok());
    ASSERT_TRUE(db_->round().Close("{}").ok());
  }

  TemporaryFolder folder_;
  std::unique_ptr<storage::CrawlDb> db_;
};

TEST_F(GenerateTest, NothingToFetchIsNoWork) {
  EXPECT_FALSE(HasWork(*db_, {}, kNow).value());
}

TEST_F(GenerateTest, AListHasAtMostTheWidthAndSoManyPagesOfOneHost) {
  Inject(4, 10);
  EXPECT_TRUE(HasWork(*db_, {}, kNow).value());
  ASSERT_TRUE(db_->round().Open(kNow).ok());
  EXPECT_EQ(Generate(*db_, {.width = 10, .per_host = 3}).value(), 10);
  std::map<std::string, int> by_host;
  const auto list = db_->round().FetchList({}, 100);
  ASSERT_TRUE(list.ok());
  for (const storage::PageKey& page : *list) {
    ++by_host[std::string(storage::HostPartOf(page.bytes))];
  }
  for (const auto& [host, pages] : by_host) EXPECT_LE(pages, 3) << host;
}

TEST_F(GenerateTest, AfterACrashTheListDoesNotGrowBeyondTheWidth) {
  Inject(4, 10);
  ASSERT_TRUE(db_->round().Open(kNow).ok());
  ASSERT_TRUE(db_->frontier()
                  .Claim(db_->frontier().Top(5, 5).value())
                  .ok());  // The process was killed here.
  EXPECT_EQ(Generate(*db_, {.width = 8, .per_host = 10}).value(), 8);
  EXPECT_EQ(Generate(*db_, {.width = 20, .per_host = 10}).value(), 8);
}

TEST_F(GenerateTest, WithAnEmptyFrontierTheDeferredGetIn) {
  Defer({"http://x.example/1", "http://x.example/2"});
  ASSERT_EQ(db_->totals().deferred_urls, 2);
  EXPECT_TRUE(HasWork(*db_, {.width = 10}, kNow).value());
  EXPECT_EQ(db_->totals().deferred_urls, 0);
}

TEST_F(GenerateTest, OfTheDeferredAFullHostGetsNone) {
  Defer({"http://h0.example/1", "http://h0.example/2", "http://h0.example/3",
         "http://x.example/1"});
  const GenerateSettings settings = {
      .width = 10, .per_host = 10, .max_pages_per_host = 1};
  EXPECT_TRUE(HasWork(*db_, settings, kNow).value());
  EXPECT_TRUE(db_->records().GetPage(KeyOf("http://x.example/1")).ok());
  EXPECT_FALSE(db_->records().GetPage(KeyOf("http://h0.example/1")).ok());
  EXPECT_GT(db_->totals().dropped.at("host_full"), 0);
}

TEST_F(GenerateTest, DeferredUrlsOfAFullHostDoNotHideThoseBehindThem) {
  Defer({"http://h0.example/1", "http://h0.example/2", "http://h0.example/3"});
  const GenerateSettings settings = {
      .width = 1, .per_host = 10, .max_pages_per_host = 1};
  EXPECT_FALSE(HasWork(*db_, settings, kNow).value());
  EXPECT_EQ(db_->totals().deferred_urls, 0);  // All were considered.
}

TEST_F(GenerateTest, HostsBehindTheFenceAreSteppedOver) {
  Inject(4, 20);
  GenerateSettings settings = {.width = 100, .per_host = 100};
  std::map<std::string, int> asked;
  settings.may_crawl = [&](std::string_view host) {
    ++asked[std::string(host)];
    return host.find("h1,") == std::string_view::npos &&
           host.find("h3,") == std::string_view::npos;
  };
  EXPECT_TRUE(HasWork(*db_, settings, kNow).value());
  ASSERT_TRUE(db_->round().Open(kNow).ok());
  asked.clear();
  EXPECT_EQ(Generate(*db_, settings).value(), 40);
  EXPECT_EQ(asked.size(), 4u);
  for (const auto& [host, times] : asked) EXPECT_EQ(times, 1) << host;
  const auto list = db_->round().FetchList({}, 100);
  ASSERT_TRUE(list.ok());
  for (const storage::PageKey& page : *list) {
    EXPECT_EQ(page.bytes.find("h1,"), std::string::npos);
  }
  // The fence leaves nothing in the DB: without it, all are there.
  EXPECT_EQ(db_->frontier().Top(100, 100)->pages.size(), 40u);
}

TEST_F(GenerateTest, NothingButFencedPagesIsNoWork) {
  Inject(2, 3);
  GenerateSettings settings;
  settings.may_crawl = [](std::string_view) { return false; };
  EXPECT_FALSE(HasWork(*db_, settings, kNow).value());
}

TEST_F(GenerateTest, DeferredUrlsOfAnotherSiteGoToItsOutbox) {
  std::vector<std::string> urls;
  for (int i = 0; i < 40; ++i) {
    urls.push_back(fmt::format("http://x{}.example/", i));
  }
  Defer(urls);
  federation::Applicant applicant;
  applicant.name = "tokyo";
  applicant.incarnation = 1;
  applicant.address = "127.0.0.1:7701";
  federation::Map map =
      federation::FoundFederation(applicant, 9, {}, true).value();
  applicant.name = "paris";
  map = federation::Join(federation::Invite(map, "paris").value(), applicant)
            .value();
  GenerateSettings settings;
  settings.map = federation::MapView::Create(map, "tokyo").value();
  EXPECT_TRUE(HasWork(*db_, settings, kNow).value());
  EXPECT_EQ(db_->totals().deferred_urls, 0);
  int mine = 0;
  for (const std::string& url : urls) {
    const bool is_mine =
        federation::Ownership(*settings.map).IsMine(KeyOf(url).bytes);
    mine += is_mine ? 1 : 0;
    EXPECT_EQ(db_->records().GetPage(KeyOf(url)).ok(), is_mine) << url;
  }
  EXPECT_GT(mine, 0);
  EXPECT_EQ(db_->totals().outbox_urls.at(storage::SiteId{2}), 40 - mine);
}

TEST_F(GenerateTest, WithoutWorkItSaysUntilWhenToWaitForARestingHost) {
  Inject(3, 5);
  for (int host = 0; host < 3; ++host) {
    const std::string page =
        KeyOf(fmt::format("http://h{}.example/", host)).bytes;
    storage::HostUpdate rest{{std::string(storage::HostPartOf(page))}, {}};
    rest.record.set_rest_until_ms(
        storage::ToMillis(kNow + absl::Minutes(10 + host)));
    ASSERT_TRUE(db_->records().PutHost(rest).ok());
  }
  EXPECT_FALSE(HasWork(*db_, {.width = 2, .per_host = 2}, kNow).value());
  EXPECT_EQ(db_->frontier().NextDue().value(), kNow + absl::Minutes(10));
  EXPECT_TRUE(
      HasWork(*db_, {.width = 20, .per_host = 20}, kNow + absl::Minutes(10))
          .value());
}

}  // namespace
}  // namespace gannet::jobs
