// Whole members of a federation in one process, over real sockets.
#include "federation/member/membership.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>

#include "absl/time/clock.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"
#include "tests/temporary_folder.h"

namespace gannet::federation {
namespace {

using storage::CrawlDb;
using storage::PageKey;
using testing::HasSubstr;

int FreePort() {
  const int probe = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(probe, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size);
  close(probe);
  return ntohs(address.sin_port);
}

// Waits until it is so; a minute is a failure.
bool Becomes(const std::function<bool()>& so) {
  const absl::Time until = absl::Now() + absl::Minutes(1);
  while (!so()) {
    if (absl::Now() > until) return false;
    absl::SleepFor(absl::Milliseconds(20));
  }
  return true;
}

PageKey KeyOf(const std::string& url) {
  static const storage::Canonicaliser canonicaliser;
  storage::Url canonical;
  EXPECT_EQ(canonicaliser.Canonicalise(url, nullptr, canonical),
            storage::UrlOutcome::kOk);
  return storage::PageKeyOf(canonical);
}

// A site: its folder outlives its process, which is a Membership here.
class TestSite {
 public:
  TestSite(std::string name, std::string join)
      : name_(std::move(name)),
        join_(std::move(join)),
        address_(fmt::format("127.0.0.1:{}", FreePort())) {
    storage::CrawlDbSettings settings;
    settings.folder = folder_.path();
    db_ = CrawlDb::Open(settings).value();
    static uint64_t lives = 100;
    proto::SiteIdentity identity;
    identity.set_name(name_);
    identity.set_incarnation(++lives);
    EXPECT_TRUE(db_->SetIdentity(identity).ok());
  }

  void Start() {
    MembershipSettings settings;
    settings.self.name = name_;
    settings.self.address = address_;
    settings.self.rules = rules;
    settings.join = join_;
    settings.server.address = address_;
    settings.beat_every = absl::Milliseconds(100);
    settings.away_after = absl::Seconds(1);
    settings.receiver.now = [] { return absl::Now(); };
    settings.verify = [this](bool full) { return db_->Verify(full); };
    settings.steady_now = [] { return absl::Now(); };
    auto member = Membership::Start(std::move(settings), *db_, canonicaliser_,
                                    *filter_);
    ASSERT_TRUE(member.ok()) << member.status();
    member_ = *std::move(member);
  }
  void Stop() { member_.reset(); }

  Membership& operator*() { return *member_; }
  Membership* operator->() { return member_.get(); }
  CrawlDb& db() { return *db_; }
  const std::string& address() const { return address_; }
  const std::string& name() const { return name_; }

  uint64_t epoch() {
    const auto view = member_->maps().view();
    return view == nullptr ? 0 : view->map().epoch();
  }
  bool IsMember() {
    const auto view = member_->maps().view();
    return view != nullptr && view->self() != nullptr;
  }
  absl::Status Change(const Membership::MapChange& change) {
    return member_->Change(change).status();
  }
  absl::Status Invite(const std::string& other) {
    return Change(
        [&](const Map& map) { return federation::Invite(map, other); });
  }

  proto::MapRules rules;

 private:
  const std::string name_, join_, address_;
  TemporaryFolder folder_;
  const storage::Canonicaliser canonicaliser_;
  const std::unique_ptr<storage::UrlFilter> filter_ =
      storage::UrlFilter::Create({}).value();
  std::unique_ptr<CrawlDb> db_;
  std::unique_ptr<Membership> member_;
};

class MembershipTest : public testing::Test {
 protected:
  // tokyo founds, the others join.
  void Found(int sites) {
    const char* names[] = {"tokyo", "paris", "lima"};
    for (int i = 0; i < sites; ++i) {
      Add(names[i]);
      ASSERT_TRUE(Becomes([&] { return AllAgree(); })) << names[i];
    }
  }
  TestSite& Add(const std::string& name) {
    const std::string join = sites_.empty() ? "" : sites_[0]->address();
    if (!sites_.empty()) {
      EXPECT_TRUE(sites_[0]->Invite(name).ok());
    }
    sites_.push_back(std::make_unique<TestSite>(name, join));
    sites_.back()->Start();
    return *sites_.back();
  }
  // One map, everybody in it, nothing moves.
  bool AllAgree() {
    for (const auto& site : sites_) {
      if (!site->IsMember() || site->epoch() != sites_[0]->epoch() ||
          IsHandingOff((*site)->maps().view()->map())) {
        return false;
      }
    }
    return (*sites_[0])->maps().view()->peers().size() + 1 == sites_.size();
  }
  TestSite& tokyo() { return *sites_[0]; }
  TestSite& paris() { return *sites_[1]; }
  TestSite& lima() { return *sites_[2]; }

  // A URL that the site owns.
  std::string UrlOf(TestSite& site, int number = 0) {
    for (int i = 0, found = 0;; ++i) {
      const std::string url = fmt::format("http://host{}.example/", i);
      if (site->maps().view()->IsMine(KeyOf(url).bytes) && found++ == number) {
        return url;
      }
    }
  }
  bool Knows(TestSite& site, const std::string& url) {
    return site.db().GetPage(KeyOf(url)).ok();
  }

  std::vector<std::unique_ptr<TestSite>> sites_;
};

TEST_F(MembershipTest, TheFirstSiteFoundsAndInvitedOnesJoin) {
  Found(3);
  EXPECT_EQ(tokyo()->maps().view()->map().registrar(), 1u);
  EXPECT_TRUE(tokyo()->MayBeginRound());
  EXPECT_TRUE(lima()->MayBeginRound());
}

TEST_F(MembershipTest, WhoIsNotInvitedIsToldSo) {
  Found(1);
  sites_.push_back(std::make_unique<TestSite>("paris", tokyo().address()));
  paris().Start();
  ASSERT_TRUE(Becomes([&] { return !paris()->Look().error.empty(); }));
  EXPECT_THAT(paris()->Look().error, HasSubstr("not invited"));
  EXPECT_FALSE(paris()->MayBeginRound());
  EXPECT_GT(tokyo()->Look().refused_calls, 0u);
  // As soon as it is, it joins by itself.
  ASSERT_TRUE(tokyo().Invite("paris").ok());
  EXPECT_TRUE(Becomes([&] { return paris().IsMember(); }));
}

TEST_F(MembershipTest, OtherRulesMayNotJoin) {
  Found(1);
  ASSERT_TRUE(tokyo().Invite("paris").ok());
  sites_.push_back(std::make_unique<TestSite>("paris", tokyo().address()));
  paris().rules.set_filters("others");
  paris().Start();
  ASSERT_TRUE(Becomes([&] { return !paris()->Look().error.empty(); }));
  EXPECT_THAT(paris()->Look().error, HasSubstr("filters"));
}

TEST_F(MembershipTest, ASeedOfAnotherSiteIsHandedOverToIt) {
  Found(2);
  const std::string url = UrlOf(paris());
  ASSERT_TRUE(tokyo().db().Inject({{KeyOf(url)}}, absl::Now()).ok());
  tokyo()->OnForeignPages();
  EXPECT_TRUE(Becomes([&] { return Knows(paris(), url); }));
  EXPECT_TRUE(Becomes([&] { return !Knows(tokyo(), url); }));
  const auto checks = tokyo()->VerifyAll(true);
  ASSERT_TRUE(checks.ok()) << checks.status();
  for (const auto& check : *checks) EXPECT_TRUE(check.ok) << check.name << check.detail;
}

TEST_F(MembershipTest, PagesMoveToASiteThatJoinsAndBackFromOneThatLeaves) {
  Found(1);
  std::vector<PageKey> seeds;
  for (int i = 0; i < 200; ++i) {
    seeds.push_back(KeyOf(fmt::format("http://host{}.example/", i)));
  }
  ASSERT_TRUE(tokyo().db().Inject(seeds, absl::Now()).ok());
  Add("paris");
  ASSERT_TRUE(Becomes([&] { return AllAgree(); }));
  const int64_t there = paris().db().totals().KnownPages();
  EXPECT_GT(there, 50);
  EXPECT_EQ(tokyo().db().totals().KnownPages() + there, 200);

  ASSERT_TRUE(paris().Change([](const Map& map) {
                       return federation::Leave(map, "paris");
                     }).ok());
  EXPECT_TRUE(
      Becomes([&] { return tokyo().db().totals().KnownPages() == 200; }));
  EXPECT_TRUE(Becomes(
      [&] { return tokyo()->maps().view()->map().sites_size() == 1; }));
  EXPECT_EQ(paris().db().totals().KnownPages(), 0);
}

TEST_F(MembershipTest, WithoutTheRegistrarOthersGoOnAndTheRoleCanBeAdopted) {
  Found(3);
  tokyo().Stop();
  ASSERT_TRUE(Becomes([&] { return !paris()->Look().registrar_is_reachable; }));
  const absl::Status refused = paris().Invite("oslo");
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("adopt"));
  // Exchange goes on.
  const std::string url = UrlOf(lima());
  ASSERT_TRUE(paris().db().Inject({{KeyOf(url)}}, absl::Now()).ok());
  paris()->OnForeignPages();
  EXPECT_TRUE(Becomes([&] { return Knows(lima(), url); }));

  ASSERT_TRUE(paris()->Adopt().ok());
  EXPECT_TRUE(Becomes([&] { return lima()->maps().view()->map().term() == 2; }));
  EXPECT_TRUE(lima().Invite("oslo").ok());
  // The old registrar comes back, and follows.
  tokyo().Start();
  EXPECT_TRUE(Becomes([&] { return tokyo().epoch() == lima().epoch(); }));
  EXPECT_TRUE(Becomes([&] { return tokyo().Invite("rome").ok(); }));
}

TEST_F(MembershipTest, TwoAdministratorsAtOnceBothGetTheirChange) {
  Found(2);
  absl::Status first, second;
  std::thread other([&] { first = paris().Invite("oslo"); });
  second = tokyo().Invite("rome");
  other.join();
  EXPECT_TRUE(first.ok()) << first;
  EXPECT_TRUE(second.ok()) << second;
  const Map map = tokyo()->maps().view()->map();
  EXPECT_NE(FindSite(map, "oslo"), nullptr);
  EXPECT_NE(FindSite(map, "rome"), nullptr);
}

TEST_F(MembershipTest, ABlockReachesEverySite) {
  Found(2);
  const std::string url = UrlOf(paris());
  ASSERT_TRUE(paris().db().Inject({{KeyOf(url)}}, absl::Now()).ok());
  const std::string domain = url.substr(7, url.size() - 8);
  ASSERT_TRUE(tokyo().Change([&](const Map& map) {
                       return federation::Block(map, domain);
                     }).ok());
  EXPECT_TRUE(Becomes([&] { return paris().db().IsBlocked(KeyOf(url)); }));
  ASSERT_TRUE(paris().Change([&](const Map& map) {
                       return federation::Unblock(map, domain);
                     }).ok());
  EXPECT_TRUE(Becomes([&] { return !paris().db().IsBlocked(KeyOf(url)); }));
  EXPECT_TRUE(Becomes([&] { return !tokyo().db().IsBlocked(KeyOf(url)); }));
}

TEST_F(MembershipTest, ASiteThatWasRemovedLearnsItAndMayComeBack) {
  Found(3);
  lima().Stop();
  ASSERT_TRUE(tokyo().Change([](const Map& map) {
                       return federation::Remove(map, "lima");
                     }).ok());
  lima().Start();
  EXPECT_TRUE(Becomes([&] { return !lima().IsMember(); }));
  EXPECT_FALSE(lima()->MayBeginRound());
  ASSERT_TRUE(Becomes([&] { return tokyo().Invite("lima").ok(); }));
  EXPECT_TRUE(Becomes([&] { return AllAgree(); }));
}

TEST_F(MembershipTest, AnIdleFederationIsQuietAndOneWithWorkIsNot) {
  Found(2);
  EXPECT_TRUE(Becomes([&] { return tokyo()->Look().is_quiet; }));
  EXPECT_TRUE(Becomes([&] { return paris()->Look().is_quiet; }));
  ASSERT_TRUE(
      paris().db().Inject({{KeyOf(UrlOf(paris()))}}, absl::Now()).ok());
  EXPECT_TRUE(Becomes([&] { return !tokyo()->Look().is_quiet; }));
}

TEST_F(MembershipTest, APlanTellsWhatWouldMove) {
  Found(2);
  std::vector<PageKey> seeds;
  for (int i = 0; i < 100; ++i) seeds.push_back(KeyOf(UrlOf(tokyo(), i)));
  ASSERT_TRUE(tokyo().db().Inject(seeds, absl::Now()).ok());
  const auto plan = paris()->MakePlan(
      [](const Map& map) { return federation::Leave(map, "tokyo"); });
  EXPECT_TRUE(absl::IsFailedPrecondition(plan.status()));  // The registrar.
  const auto other = paris()->MakePlan([](const Map& map) {
    return federation::SetCapacity(map, "paris", 3);
  });
  ASSERT_TRUE(other.ok()) << other.status();
  const peers::MoveCounts& counts = other->by_site.at(1);
  EXPECT_EQ(counts.pages(), 100);
  ASSERT_EQ(counts.moves_size(), 1);
  EXPECT_EQ(counts.moves(0).site(), 2u);
  EXPECT_NEAR(static_cast<double>(counts.moves(0).pages()), 50, 25);
  EXPECT_GT(counts.moves(0).bytes(), 0);
}

}  // namespace
}  // namespace gannet::federation
