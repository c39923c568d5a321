// A site that is taken out of the map while its round is open must stop asking
// its hosts, because they have another owner by then.
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "federation/map/map_changes.h"
#include "tests/jobs/round/fake_crawl.h"

namespace gannet::jobs {
namespace {

federation::Map MapOfTwo() {
  federation::Applicant site{.name = "tokyo", .incarnation = 1};
  site.address = "127.0.0.1:1";
  federation::Map map =
      federation::FoundFederation(site, 7, {}, /*is_registrar=*/true).value();
  site.name = "lima";
  return federation::FinishHandOff(
             federation::Join(federation::Invite(map, "lima").value(), site)
                 .value())
      .value();
}

// Lima is in the map until its hosts have got `requests` requests.
class RemovedAfter : public FederationPart {
 public:
  RemovedAfter(const fake_web::Server& server, size_t requests)
      : server_(server), requests_(requests) {}

  FederationNow Snapshot() override {
    FederationNow now;
    now.map = IsOut() ? after_ : before_;
    const bool is_in = now.map->self() != nullptr;
    now.may_crawl = [is_in](std::string_view) { return is_in; };
    now.sent = &sent_;
    return now;
  }
  bool IsOut() const override { return server_.Log().size() >= requests_; }
  absl::Status OnSettled() override { return absl::OkStatus(); }
  federation::BatchBytes TakeBytesSent() override { return {}; }

 private:
  const fake_web::Server& server_;
  const size_t requests_;
  const std::shared_ptr<const federation::MapView> before_ =
      federation::MapView::Create(MapOfTwo(), "lima").value();
  const std::shared_ptr<const federation::MapView> after_ =
      federation::MapView::Create(
          federation::Remove(MapOfTwo(), "lima").value(), "lima")
          .value();
  federation::SentUrlCache sent_{1 << 20, 1};
};

TEST(RemovedTest, ASiteThatIsOutOfTheMapGivesItsOpenRoundsPagesBack) {
  FakeCrawl crawl({.hosts = 2, .pages = 60, .largest_host = 40});
  RemovedAfter federation(crawl.server(), 8);
  crawl.settings().federation = &federation;
  for (const auto& [url, state] : crawl.TrueStates()) {
    ASSERT_TRUE(crawl.Inject(url).ok());
  }
  storage::CrawlDb& db = crawl.store().crawl_db();
  ASSERT_TRUE(db.round().Open(absl::Now()).ok());
  ASSERT_TRUE(crawl.Crawl().ok());
  EXPECT_EQ(db.round().journal().number(), 1u);
  EXPECT_EQ(db.round().journal().phase(), proto::NO_ROUND);
  EXPECT_GT(db.totals().frontier_pages, 30);
  (void)crawl.server().Stop();
  // Requests under way at that moment, one per host, may end.
  EXPECT_LT(crawl.server().Log().size(), 16u);
}

}  // namespace
}  // namespace gannet::jobs
