// Whole members of a federation in one process, over real sockets.
#include "federation/member/membership.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "absl/time/clock.h"
#include "tests/federation/member/test_federation.h"

namespace gannet::federation {
namespace {

using storage::PageKey;
using testing::HasSubstr;

class MembershipTest : public FederationTest {};

TEST_F(MembershipTest, TheFirstSiteFoundsAndInvitedOnesJoin) {
  StartSites(3);
  EXPECT_EQ(tokyo()->maps().view()->map().registrar(), 1u);
  EXPECT_TRUE(tokyo()->MayBeginRound().ok());
  EXPECT_TRUE(lima()->MayBeginRound().ok());
}

TEST_F(MembershipTest, SitesThatStopWaitForNoTimeToPass) {
  for (const char* name : {"tokyo", "paris"}) {
    Add(name, simulated_clock_);
    ASSERT_TRUE(Becomes([&] {
      simulated_clock_.Advance(absl::Milliseconds(100));
      return AllAgree();
    })) << name;
  }
  // Each has a watch, a mover, a beat and a pump.
  simulated_clock_.AwaitWaiters(8);
  sites_.clear();  // Ends.
}

TEST_F(MembershipTest, WhoIsNotInvitedIsToldSo) {
  StartSites(1);
  sites_.push_back(std::make_unique<TestSite>("paris", tokyo().address()));
  paris().Start();
  ASSERT_TRUE(Becomes([&] { return !paris()->Snapshot().error.empty(); }));
  EXPECT_THAT(paris()->Snapshot().error, HasSubstr("not invited"));
  EXPECT_FALSE(paris()->MayBeginRound().ok());
  EXPECT_GT(tokyo()->Snapshot().refused_calls, 0u);
  // As soon as it is, it joins by itself.
  ASSERT_TRUE(tokyo().Invite("paris").ok());
  EXPECT_TRUE(Becomes([&] { return paris().IsMember(); }));
}

TEST_F(MembershipTest, OtherRulesMayNotJoin) {
  StartSites(1);
  ASSERT_TRUE(tokyo().Invite("paris").ok());
  sites_.push_back(std::make_unique<TestSite>("paris", tokyo().address()));
  paris().rules.set_filters("others");
  paris().Start();
  ASSERT_TRUE(Becomes([&] { return !paris()->Snapshot().error.empty(); }));
  EXPECT_THAT(paris()->Snapshot().error, HasSubstr("filters"));
}

TEST_F(MembershipTest, ASeedOfAnotherSiteIsHandedOverToIt) {
  StartSites(2);
  const std::string url = UrlOf(paris());
  ASSERT_TRUE(tokyo().db().incoming().Inject({{KeyOf(url)}}, absl::Now()).ok());
  tokyo()->OnForeignPages();
  EXPECT_TRUE(Becomes([&] { return Knows(paris(), url); }));
  EXPECT_TRUE(Becomes([&] { return !Knows(tokyo(), url); }));
  const auto checks = tokyo()->questions().VerifyAll(true);
  ASSERT_TRUE(checks.ok()) << checks.status();
  for (const auto& check : *checks)
    EXPECT_TRUE(check.ok) << check.name << check.detail;
}

TEST_F(MembershipTest, PagesMoveToASiteThatJoinsAndBackFromOneThatLeaves) {
  StartSites(1);
  std::vector<PageKey> seeds;
  for (int i = 0; i < 200; ++i) {
    seeds.push_back(KeyOf(fmt::format("http://host{}.example/", i)));
  }
  ASSERT_TRUE(tokyo().db().incoming().Inject(seeds, absl::Now()).ok());
  Add("paris");
  ASSERT_TRUE(Becomes([&] { return AllAgree(); }));
  const int64_t there = paris().db().totals().KnownPages();
  EXPECT_GT(there, 50);
  EXPECT_EQ(tokyo().db().totals().KnownPages() + there, 200);

  ASSERT_TRUE(paris()
                  .Change([](const Map& map) {
                    return federation::Leave(map, "paris");
                  })
                  .ok());
  EXPECT_TRUE(
      Becomes([&] { return tokyo().db().totals().KnownPages() == 200; }));
  EXPECT_TRUE(
      Becomes([&] { return tokyo()->maps().view()->map().sites_size() == 1; }));
  EXPECT_EQ(paris().db().totals().KnownPages(), 0);
}

TEST_F(MembershipTest, WithoutTheRegistrarOthersGoOnAndTheRoleCanBeAdopted) {
  StartSites(3);
  tokyo().Stop();
  ASSERT_TRUE(
      Becomes([&] { return !paris()->Snapshot().registrar_is_reachable; }));
  const absl::Status refused = paris().Invite("oslo");
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("adopt"));
  // Exchange goes on.
  const std::string url = UrlOf(lima());
  ASSERT_TRUE(paris().db().incoming().Inject({{KeyOf(url)}}, absl::Now()).ok());
  paris()->OnForeignPages();
  EXPECT_TRUE(Becomes([&] { return Knows(lima(), url); }));

  ASSERT_TRUE(paris()->follower().Adopt().ok());
  EXPECT_TRUE(Becomes(
      [&] { return TermNumber(lima()->maps().view()->map().term()) == 2; }));
  EXPECT_TRUE(lima().Invite("oslo").ok());
  // The old registrar comes back, and follows.
  tokyo().Start();
  EXPECT_TRUE(Becomes([&] { return tokyo().epoch() == lima().epoch(); }));
  EXPECT_TRUE(Becomes([&] { return tokyo().Invite("rome").ok(); }));
}

TEST_F(MembershipTest, AMemberWhoseRulesHaveChangedSinceBeginsNoRound) {
  StartSites(2);
  ASSERT_TRUE(Becomes([&] { return paris()->MayBeginRound().ok(); }));
  paris().Stop();
  paris().rules.set_filters("others");
  paris().Start();
  EXPECT_TRUE(Becomes([&] { return !paris()->Snapshot().error.empty(); }));
  EXPECT_THAT(paris()->Snapshot().error, HasSubstr("the filters"));
  EXPECT_FALSE(paris()->MayBeginRound().ok());
  // Its rules become everybody's, and now the other one has to follow.
  ASSERT_TRUE(Becomes([&] {  // Just restarted, it is not believed at once.
    return paris()
        .Change([&](const Map& map) {
          return federation::SetRules(map, paris().rules);
        })
        .ok();
  }));
  EXPECT_TRUE(Becomes([&] { return paris()->MayBeginRound().ok(); }));
  EXPECT_TRUE(Becomes([&] { return paris()->Snapshot().error.empty(); }));
  EXPECT_FALSE(tokyo()->MayBeginRound().ok());
  tokyo().Stop();
  tokyo().rules = paris().rules;
  tokyo().Start();
  EXPECT_TRUE(Becomes([&] { return tokyo()->MayBeginRound().ok(); }));
}

// They may be on two sides of a link that is cut.
TEST_F(MembershipTest, OfTwoThatAdoptAtOnceOneIsTheRegistrarInTheEnd) {
  StartSites(3);
  tokyo().Stop();
  std::thread other([&] { (void)paris()->follower().Adopt(); });
  (void)lima()->follower().Adopt();
  other.join();
  EXPECT_TRUE(Becomes([&] {
    return IsSame(paris()->maps().view()->map(), lima()->maps().view()->map());
  }));
  EXPECT_TRUE(Becomes([&] { return paris().Invite("oslo").ok(); }));
  EXPECT_TRUE(Becomes([&] { return lima().Invite("rome").ok(); }));
}

TEST_F(MembershipTest, WhatASiteThatIsGoneMayHaveLostIsAskedFor) {
  StartSites(3);
  EXPECT_TRUE(tokyo()->losses().Get().empty());
  lima().Stop();
  ASSERT_TRUE(tokyo()
                  .Change([](const Map& map) {
                    return federation::Remove(map, "lima");
                  })
                  .ok());
  EXPECT_TRUE(
      Becomes([&] { return paris()->losses().Get().somebody_is_gone; }));
  EXPECT_TRUE(tokyo()->losses().Get().somebody_is_gone);
  // Until that is done nothing is quiet; a restart does not forget it.
  EXPECT_FALSE(tokyo()->Snapshot().self.is_idle());
  paris().Stop();
  paris().Start();
  EXPECT_TRUE(paris()->losses().Get().somebody_is_gone);
}

TEST_F(MembershipTest, TwoAdministratorsAtOnceBothGetTheirChange) {
  StartSites(2);
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
  StartSites(2);
  const std::string url = UrlOf(paris());
  ASSERT_TRUE(paris().db().incoming().Inject({{KeyOf(url)}}, absl::Now()).ok());
  const std::string domain = url.substr(7, url.size() - 8);
  ASSERT_TRUE(tokyo()
                  .Change([&](const Map& map) {
                    return federation::Block(map, domain);
                  })
                  .ok());
  EXPECT_TRUE(
      Becomes([&] { return paris().db().blocks().IsBlocked(KeyOf(url)); }));
  ASSERT_TRUE(paris()
                  .Change([&](const Map& map) {
                    return federation::Unblock(map, domain);
                  })
                  .ok());
  EXPECT_TRUE(
      Becomes([&] { return !paris().db().blocks().IsBlocked(KeyOf(url)); }));
  EXPECT_TRUE(
      Becomes([&] { return !tokyo().db().blocks().IsBlocked(KeyOf(url)); }));
}

TEST_F(MembershipTest, ASiteThatWasRemovedLearnsItAndMayComeBack) {
  StartSites(3);
  lima().Stop();
  ASSERT_TRUE(tokyo()
                  .Change([](const Map& map) {
                    return federation::Remove(map, "lima");
                  })
                  .ok());
  lima().Start();
  EXPECT_TRUE(Becomes([&] { return !lima().IsMember(); }));
  EXPECT_FALSE(lima()->MayBeginRound().ok());
  ASSERT_TRUE(Becomes([&] { return tokyo().Invite("lima").ok(); }));
  EXPECT_TRUE(Becomes([&] { return AllAgree(); }));
}

TEST_F(MembershipTest, ASiteThatWasRemovedSaysOnceWhatToDo) {
  StartSites(2);
  ASSERT_TRUE(tokyo()
                  .Change([](const Map& map) {
                    return federation::Remove(map, "paris");
                  })
                  .ok());
  ASSERT_TRUE(Becomes([&] { return !paris()->Snapshot().error.empty(); }));
  const std::string error = paris()->Snapshot().error;
  EXPECT_THAT(error, HasSubstr("it was removed, or it left"));
  EXPECT_THAT(error, HasSubstr("'gannet federation invite paris'"));
  const uint64_t before = tokyo()->Snapshot().refused_calls;
  EXPECT_TRUE(
      Becomes([&] { return tokyo()->Snapshot().refused_calls > before; }));
  EXPECT_EQ(paris()->Snapshot().error, error);
  EXPECT_EQ(paris().Noted("federation_error"), 1);
}

TEST_F(MembershipTest, WhoIsNotInvitedMayBeToldToAskAtOnce) {
  StartSites(1);
  sites_.push_back(std::make_unique<TestSite>("paris", tokyo().address()));
  paris().Start();
  ASSERT_TRUE(Becomes([&] { return !paris()->Snapshot().error.empty(); }));
  EXPECT_THAT(paris()->Snapshot().error,
              HasSubstr("the site at " + tokyo().address() + " says: "));
  ASSERT_TRUE(tokyo().Invite("paris").ok());
  EXPECT_TRUE(paris()->follower().Join("").ok());
  EXPECT_TRUE(paris().IsMember());
  // What it complained about is over, though its next try was far away.
  EXPECT_TRUE(Becomes([&] { return paris()->Snapshot().error.empty(); }));
}

TEST_F(MembershipTest, ARegistrarThatIsOnlyHeardIsNotReachableYet) {
  StartSites(1);
  ASSERT_TRUE(tokyo().Invite("paris").ok());
  sites_.push_back(std::make_unique<TestSite>("paris", tokyo().address()));
  // It gets in; afterwards nothing that it says to tokyo arrives.
  const std::string nowhere = fmt::format("127.0.0.1:{}", FreePort());
  paris().connect = [&](const std::string& address, const std::string& name) {
    return ConnectInsecurely(name == "tokyo" ? nowhere : address, name);
  };
  paris().Start();
  ASSERT_TRUE(Becomes([&] {
    const FederationSnapshot look = paris()->Snapshot();
    return look.neighbours.contains(1) && look.neighbours.at(1).is_alive;
  }));
  EXPECT_FALSE(paris()->Snapshot().registrar_is_reachable);
  EXPECT_TRUE(absl::IsUnavailable(paris().Invite("oslo")));
}

TEST_F(MembershipTest, ASiteThatDoesNotAnswerIsNotABrokenOne) {
  StartSites(2);
  const auto well = tokyo()->questions().VerifyAll(/*full=*/true);
  ASSERT_TRUE(well.ok()) << well.status();
  for (const FederationCheck& check : *well) {
    EXPECT_TRUE(check.ok && !check.is_unanswered) << check.name;
  }
  paris().Stop();
  const auto checks = tokyo()->questions().VerifyAll(/*full=*/true);
  ASSERT_TRUE(checks.ok()) << checks.status();
  int unanswered = 0;
  for (const FederationCheck& check : *checks) {
    EXPECT_NE(check.ok, check.is_unanswered) << check.name << check.detail;
    unanswered += check.is_unanswered ? 1 : 0;
  }
  EXPECT_EQ(unanswered, 3);  // paris, and the pair both ways.
}

// --- Copies
// ----------------------------------------------------------------

TEST_F(MembershipTest, ASecondCopyOfALivingSiteMayNotTakeItsPlaceInTheMap) {
  StartSites(2);
  TestSite copy({.of = paris(), .has_own_address = true});
  copy.Start();
  ASSERT_TRUE(Becomes([&] { return !copy->Snapshot().error.empty(); }));
  EXPECT_THAT(copy->Snapshot().error, HasSubstr("second copy"));
  EXPECT_EQ(FindSite(tokyo()->maps().view()->map(), "paris")->address(),
            paris().address());
  EXPECT_TRUE(paris()->MayBeginRound().ok());
}

TEST_F(MembershipTest, ASecondCopyThatIsInTheMapBeginsNoRound) {
  StartSites(2);
  TestSite copy({.of = paris()});
  copy.Start();
  ASSERT_TRUE(Becomes([&] { return !copy->MayBeginRound().ok(); }));
  EXPECT_TRUE(paris()->MayBeginRound().ok());
  // It is the one once the other is gone.
  paris().Stop();
  EXPECT_TRUE(Becomes([&] { return copy->MayBeginRound().ok(); }));
}

// --- Quiet
// -----------------------------------------------------------------

TEST_F(MembershipTest, WorkThatCameThisMomentIsNotQuietAnyMore) {
  StartSites(2);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Becomes([&] { return tokyo()->Snapshot().is_quiet; }));
    const PageKey page = KeyOf(UrlOf(paris(), i));
    ASSERT_TRUE(paris().db().incoming().Inject({{page}}, absl::Now()).ok());
    EXPECT_FALSE(tokyo()->FreshSnapshot().is_quiet);
    ASSERT_TRUE(paris().db().records().Forget(page).ok());
  }
}

TEST_F(MembershipTest, AnIdleFederationIsQuietAndOneWithWorkIsNot) {
  StartSites(2);
  EXPECT_TRUE(Becomes([&] { return tokyo()->Snapshot().is_quiet; }));
  EXPECT_TRUE(Becomes([&] { return paris()->Snapshot().is_quiet; }));
  EXPECT_TRUE(Becomes([&] { return tokyo()->FreshSnapshot().is_quiet; }));
  ASSERT_TRUE(paris()
                  .db()
                  .incoming()
                  .Inject({{KeyOf(UrlOf(paris()))}}, absl::Now())
                  .ok());
  // Who asks everybody knows it at once; who only looks, soon.
  EXPECT_FALSE(tokyo()->FreshSnapshot().is_quiet);
  EXPECT_TRUE(Becomes([&] { return !tokyo()->Snapshot().is_quiet; }));
}

TEST_F(MembershipTest, APlanTellsWhatWouldMove) {
  StartSites(2);
  std::vector<PageKey> seeds;
  for (int i = 0; i < 100; ++i) seeds.push_back(KeyOf(UrlOf(tokyo(), i)));
  ASSERT_TRUE(tokyo().db().incoming().Inject(seeds, absl::Now()).ok());
  const auto plan = paris()->questions().MakePlan(
      [](const Map& map) { return federation::Leave(map, "tokyo"); });
  EXPECT_TRUE(absl::IsFailedPrecondition(plan.status()));  // The registrar.
  const auto other = paris()->questions().MakePlan(
      [](const Map& map) { return federation::SetCapacity(map, "paris", 3); });
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
