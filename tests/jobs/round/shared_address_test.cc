// The delay per address in a federation: other sites may have hosts on the same
// address, and sites do not tell each other (DESIGN, section 6).
#include <gtest/gtest.h>

#include "federation/map/map_changes.h"
#include "tests/jobs/round/fake_crawl.h"

namespace gannet::jobs {
namespace {

constexpr size_t kSites = 3;

federation::Map MapOfThree() {
  federation::Applicant site{.name = "tokyo", .incarnation = 1};
  site.address = "127.0.0.1:1";
  federation::Map map =
      federation::FoundFederation(site, 7, {}, /*is_registrar=*/true).value();
  for (const char* name : {"zurich", "lima"}) {
    site.name = name;
    ++site.incarnation;
    map = federation::FinishHandOff(
              federation::Join(federation::Invite(map, name).value(), site)
                  .value())
              .value();
  }
  // Nairobi is only invited: it does not crawl, and does not count.
  return federation::Invite(map, "nairobi").value();
}

// A federation that lets this site crawl everything.
class ThreeSites : public FederationPart {
 public:
  FederationNow Snapshot() override {
    FederationNow now;
    now.map = map_;
    now.may_crawl = [](std::string_view) { return true; };
    now.sent = &sent_;
    now.may_begin = absl::OkStatus();
    return now;
  }
  bool IsOut() const override { return false; }
  absl::Status OnSettled() override { return absl::OkStatus(); }
  federation::BatchBytes TakeBytesSent() override { return {}; }

 private:
  const std::shared_ptr<const federation::MapView> map_ =
      federation::MapView::Create(MapOfThree(), "tokyo").value();
  federation::SentUrlCache sent_{1 << 20, 1};
};

// How often, in a crawl within a federation of three, an address was asked
// earlier than three delays after its last answer.
uint64_t TooEarly(bool share_addresses) {
  FakeCrawl crawl({.hosts = 4, .pages = 40, .largest_host = 20});
  ThreeSites federation;
  crawl.settings().federation = &federation;
  crawl.settings().fetch.fetch.share_addresses = share_addresses;
  // All pages are seeds of one round, because some links belong to other sites.
  for (const auto& [url, state] : crawl.TrueStates()) {
    EXPECT_TRUE(crawl.Inject(url).ok());
  }
  EXPECT_TRUE(crawl.Crawl(/*rounds=*/1).ok());
  (void)crawl.server().Stop();
  const fake_web::Verdict verdict =
      fake_web::Judge(crawl.web(), crawl.server().Log(),
                      {.delay = kSites * crawl.settings().fetch.fetch.delay,
                       .per_host = false});
  EXPECT_GE(verdict.requests, 40u);
  return verdict.too_early_on_address;
}

TEST(SharedAddressTest, InAFederationAnAddressWaitsADelayForEachSite) {
  EXPECT_EQ(TooEarly(/*share_addresses=*/true), 0u);
}

TEST(SharedAddressTest, ASiteMayBeToldThatItsAddressesAreItsOwn) {
  EXPECT_GT(TooEarly(/*share_addresses=*/false), 20u);
}

}  // namespace
}  // namespace gannet::jobs
