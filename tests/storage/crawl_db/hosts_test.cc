// ScanHosts(), which `gannet hosts` shows; and what resting hosts cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/crawl_db/columns.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/engine/memory_store.h"
#include "tests/storage/crawl_db/random_verbs.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

using model::PageOf;
using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct SeenHost {
  std::string host;
  int64_t pages;
  uint32_t failures;
};

class ScanHostsTest : public testing::Test {
 protected:
  ScanHostsTest() : db_(model::OpenSmallDb(folder_.path())) {}

  std::vector<SeenHost> Scan(const HostKey& from = {}, size_t most = 100) {
    std::vector<SeenHost> hosts;
    EXPECT_TRUE(db_->records()
                    .ScanHosts(from,
                               [&](std::string_view host, int64_t pages,
                                   const proto::HostRecord& record) {
                                 hosts.push_back({std::string(SurtOf(host)),
                                                  pages, record.failures()});
                                 return hosts.size() < most;
                               })
                    .ok());
    return hosts;
  }
  static HostKey HostOf(const PageKey& page) {
    return {std::string(HostPartOf(page.bytes))};
  }

  TemporaryFolder folder_;
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  std::unique_ptr<CrawlDb> db_;
};

TEST_F(ScanHostsTest, AnEmptySiteHasNoHosts) { EXPECT_THAT(Scan(), IsEmpty()); }

TEST_F(ScanHostsTest, EveryHostIsSeenOnceWithItsPagesAndItsRecord) {
  ASSERT_TRUE(
      db_->incoming()
          .Inject({PageOf(0, 0, 1), PageOf(0, 0, 2), PageOf(1, 0, 1)}, now_)
          .ok());
  HostUpdate update{HostOf(PageOf(0, 0, 1)), {}};
  update.record.set_failures(7);
  ASSERT_TRUE(db_->records().PutHost(update).ok());
  // A host with a record but no page: robots.txt was asked for, and then the
  // page was forgotten.
  update.host = HostOf(PageOf(2, 0, 1));
  update.record.set_failures(1);
  ASSERT_TRUE(db_->records().PutHost(update).ok());
  EXPECT_THAT(Scan(),
              UnorderedElementsAre(FieldsAre("example,d0,h0,)", 2, 7u),
                                   FieldsAre("example,d1,h0,)", 1, 0u),
                                   FieldsAre("example,d2,h0,)", 0, 1u)));
}

TEST_F(ScanHostsTest, AHostWhosePagesWereForgottenIsNotSeen) {
  ASSERT_TRUE(db_->incoming().Inject({PageOf(0, 0, 1)}, now_).ok());
  ASSERT_TRUE(db_->records().Forget(PageOf(0, 0, 1)).ok());
  EXPECT_THAT(Scan(), IsEmpty());
}

TEST_F(ScanHostsTest, ItBeginsAtTheGivenHostAndEndsWhenTheCallerSaysSo) {
  ASSERT_TRUE(
      db_->incoming()
          .Inject({PageOf(0, 0, 1), PageOf(0, 1, 1), PageOf(0, 2, 1)}, now_)
          .ok());
  EXPECT_THAT(Scan(HostOf(PageOf(0, 1, 1)), 1),
              ElementsAre(FieldsAre("example,d0,h1,)", 1, 0u)));
}

TEST(RestingHostsTest, WhatIsDueNextCostsTheSameHoweverManyHostsRest) {
  std::vector<int64_t> seeks;
  for (const int resting : {1, 300}) {
    MemoryDisk disk(MakeColumns().size());
    const auto db = CrawlDb::OpenOn(disk.Open()).value();
    const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
    const PageKey page = model::PageOf(0, 0, 0);
    ASSERT_TRUE(db->incoming().Inject({page}, now).ok());
    const auto rest_until = [&](std::string host, absl::Time until) {
      HostUpdate update{HostKey{std::move(host)}, {}};
      update.record.set_rest_until_ms(ToMillis(until));
      ASSERT_TRUE(db->records().PutHost(update).ok());
    };
    for (int i = 0; i < resting; ++i) {
      const std::string host =
          "\x01"
          "com,h" +
          std::to_string(i) + ",)";
      rest_until(host, now + absl::Minutes(1));
    }
    const absl::Time ends = now + absl::Hours(1);
    rest_until(std::string(HostPartOf(page.bytes)), ends);
    ASSERT_TRUE(db->frontier().PutAside(*db->frontier().Top(9, 9)).ok());
    const int64_t before = disk.seeks();
    EXPECT_EQ(*db->frontier().NextDue(), ends);
    seeks.push_back(disk.seeks() - before);
  }
  EXPECT_EQ(seeks[0], seeks[1]);
}

TEST(RestingHostsTest, PagesSetAsideAreDueAfterTheDbWasOpenedAgain) {
  MemoryDisk disk(MakeColumns().size());
  auto db = CrawlDb::OpenOn(disk.Open()).value();
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  const PageKey page = model::PageOf(0, 0, 0);
  ASSERT_TRUE(db->incoming().Inject({page}, now).ok());
  HostUpdate update{HostKey{std::string(HostPartOf(page.bytes))}, {}};
  update.record.set_rest_until_ms(ToMillis(now + absl::Hours(1)));
  ASSERT_TRUE(db->records().PutHost(update).ok());
  EXPECT_EQ(*db->frontier().NextDue(), std::nullopt);  // No page stands aside.
  ASSERT_TRUE(db->frontier().PutAside(*db->frontier().Top(9, 9)).ok());
  db.reset();
  db = CrawlDb::OpenOn(disk.Open()).value();
  EXPECT_EQ(*db->frontier().NextDue(), now + absl::Hours(1));
  EXPECT_EQ(*db->frontier().WakeDue(now + absl::Hours(2), 9, 9), 1);
  EXPECT_EQ(*db->frontier().NextDue(), std::nullopt);
}

}  // namespace
}  // namespace gannet::storage
